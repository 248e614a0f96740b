"""What a process knows of rooms in use: boards, passes, live streams, the health of the backend.

Everything here takes its parts, never the `Server` that holds it. It must not know who asks.
"""
