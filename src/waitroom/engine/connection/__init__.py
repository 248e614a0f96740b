"""Connects to a server that is fit for Waitroom: the one of a URL, or an embedded one.

It knows addresses, clients and the embedded server. It must know nothing of rooms.
"""
