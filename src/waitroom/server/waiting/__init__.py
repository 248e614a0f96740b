"""The waiting page `/rooms/{room}`.

It collects facts, then renders them in a pure function. It must not import other faces.
"""
