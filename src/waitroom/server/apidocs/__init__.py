"""`/docs`: the HTTP reference, made from the OpenAPI document.

It only shows; it must not know what a route does.
"""
