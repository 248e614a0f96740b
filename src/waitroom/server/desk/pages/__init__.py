"""The pages of guests: join, my place, poster.

They show what `waitroom.desk` says. They must not decide who is next.
"""
