"""For visitors: the lane, and the same requests declared for the framework.

It must not import other faces; what a request does is in `tickets`.
"""
