"""The preview of the waiting page for operators: every face of a room, before visitors see it.

It uses two faces of the server: the operator's session from one, the page from another. It must not
take a place, and nothing in it may be public.
"""
