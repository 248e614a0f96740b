"""What every route shares: requests, answers, bodies, problems, limits and keys.

It must not know any face of the server.
"""
