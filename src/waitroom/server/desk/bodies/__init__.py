"""The JSON bodies of the desk's API and event streams: their schemas, and how each is made.

It must not know which route or stream sends a body.
"""
