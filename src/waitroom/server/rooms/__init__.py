"""What a process knows of rooms in use: boards, live streams and the health of the backend.

It must not know who asks.
"""
