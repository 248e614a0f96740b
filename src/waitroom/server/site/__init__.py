"""For protected sites: is this pass valid, and the sessions that a gate handles.

It must not import other faces.
"""
