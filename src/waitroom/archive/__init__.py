"""The archive: files that keep the events of rooms for good; written here, and read in part.

It must not know Redis or who is asking.
"""
