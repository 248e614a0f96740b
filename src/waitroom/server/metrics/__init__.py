"""What the server counts, and how Prometheus reads it.

Counting must cost nearly nothing; it must not change what is counted.
"""
