"""The waiting page `/rooms/{room}`.

It finds out facts, then renders them in a pure function. It must not import other faces.
"""
