"""API keys: an admin lists, makes and revokes them.

A key is shown once, when it is made; nothing here may keep or log one.
"""
