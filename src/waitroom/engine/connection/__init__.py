"""From a URL, or none, to a server that is fit for Waitroom.

It knows addresses, clients and the embedded server. It must know nothing of rooms.
"""
