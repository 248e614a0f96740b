"""A restaurant's waitlist: a database keeps the record, and the engine the live order.

It must know nothing of HTTP.
"""
