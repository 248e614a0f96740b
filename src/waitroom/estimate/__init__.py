"""How long people will wait, estimated from samples of a room. Pure: numbers in, numbers out.

It must not read a clock, Redis or settings.
"""
