"""`/docs`: the HTTP reference, made from the OpenAPI document.

It only displays; it must not know what a route does.
"""
