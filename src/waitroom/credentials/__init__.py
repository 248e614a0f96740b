"""Secrets: the ticket secret, the keys of passes, and the keys of operators and hosts.

They come from settings and files; other packages store them. This one must not use Redis or HTTP.
"""
