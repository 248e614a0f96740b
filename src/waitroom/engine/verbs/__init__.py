"""The verbs of the engine, grouped by who uses them. `Engine` has them all; others import that.

A module here must not import another, except `base`: what they share is there, or in a part.
"""
