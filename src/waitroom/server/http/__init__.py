"""What every route shares: requests, answers, bodies, problems, limits, event streams and keys.

It must not know any face of the server; only `auth` knows the `Server`.
"""
