"""How Prometheus reads the server's counters.

It must not change what is counted.
"""
