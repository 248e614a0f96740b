"""Web Push: a message to a browser whose tab is closed, through the vendor's push service.

It has subscriptions, the key that signs for us, encryption, and one delivery. It must not know
rooms, Redis, or the requests of visitors.
"""
