"""What a process knows of rooms in use: boards, passes, live streams, the backend's health.

Everything here gets its parts, never the `Server` that holds it. It must not know who asks.
"""
