"""Web Push: a message to a browser whose tab is closed, through its maker's push service.

What a subscription is, the key that signs for us, encryption, and one delivery. It must not know
rooms, Redis, or the requests of visitors.
"""
