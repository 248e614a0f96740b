"""For visitors: the lane, the same calls for the framework, and what they do.

This is the hot path: one question to the engine per call. It must not import other faces.
"""
