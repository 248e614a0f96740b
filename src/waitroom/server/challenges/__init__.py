"""Challenges: what a newcomer's browser does for a place, issued and verified without Redis.

Nothing here knows a policy or a request: `tickets/entry/challenges.py` decides who is asked.
"""
