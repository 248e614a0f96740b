"""Secrets: the ticket secret, the keys of passes, and the keys that operators and hosts show.

They come from settings and files; others store them. This package must not talk to Redis or HTTP.
"""
