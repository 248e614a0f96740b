"""The past and the present of rooms: samples, charts, marks, audit log, reports, event stream.

It reads what is kept; it must change nothing.
"""
