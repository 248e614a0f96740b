"""`/`, `/docs` and `/docs/errors`: what runs here, its calls in a line each, and its errors.

It only displays; it must not know what a route does. The API with fields and schemas is on the
documentation site.
"""
