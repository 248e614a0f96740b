"""What all routes share: connections, requests, answers, problems, limits, streams and keys.

It must not know any face of the server; only `auth` knows the `Server`.
"""
