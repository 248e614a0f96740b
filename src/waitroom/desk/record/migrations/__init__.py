"""The steps that made the tables of the desk's database what they are, in order.

A step that was released must not change: a later step mends it.
"""
