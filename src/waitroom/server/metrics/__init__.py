"""How Prometheus reads what the server counts.

It must not change what is counted.
"""
