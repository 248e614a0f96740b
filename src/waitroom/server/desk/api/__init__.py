"""The desk's HTTP API: for guests, hosts and admins.

It turns JSON into calls of `waitroom.desk` and back. It must not render pages.
"""
