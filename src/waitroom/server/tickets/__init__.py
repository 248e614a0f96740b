"""What people can do with a ticket over HTTP: for the API, the waiting page and gates alike.

This is the hot path: one question to the engine per request. It must not know any face.
"""
