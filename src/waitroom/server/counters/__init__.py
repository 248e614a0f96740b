"""The counters of each worker, and their sum over the workers of a server.

Counting must cost nearly nothing; it must not know what Prometheus needs.
"""
