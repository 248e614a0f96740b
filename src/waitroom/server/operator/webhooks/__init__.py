"""Webhooks: an admin makes, tests, switches and removes them, and sees their deliveries.

`waitroom.events` sends the messages; nothing here may send one except a requested test.
"""
