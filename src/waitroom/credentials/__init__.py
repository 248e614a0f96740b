"""Secrets: the ticket secret and the keys of passes.

They come from settings and files. This package must not talk to Redis or HTTP.
"""
