"""How guests are told: an outbox in the record, delivered by signed webhooks.

It must not change a party, and nobody may wait for a delivery.
"""
