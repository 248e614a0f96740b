"""Notices to guests: an outbox in the record, delivered by signed webhooks.

It must not change a party, and nobody may wait for a delivery.
"""
