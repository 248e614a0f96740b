"""One file per command of `waitroom`.

A command reads its options, calls what does the work, and prints. It must hold no rules of rooms.
"""
