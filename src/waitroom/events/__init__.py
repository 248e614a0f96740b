"""Outgoing events: from what scripts note to the outbox, and on to webhooks and the archive.

It knows no HTTP server and no page. It must not change a room.
"""
