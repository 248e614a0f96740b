"""What each worker counts of itself, and the sum over the workers of a server.

Counting must cost nearly nothing; it must not know what Prometheus wants.
"""
