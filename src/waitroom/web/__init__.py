"""What server and gates must agree on about HTTP: addresses, return URLs, origins and names.

It is pure and needs only the standard library; it must not know a framework, a room or a ticket.
"""
