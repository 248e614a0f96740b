"""What server and gates must agree on about HTTP: addresses, return URLs, origins and names.

It is pure and needs the standard library only; it must not know a framework, a room or a ticket.
"""
