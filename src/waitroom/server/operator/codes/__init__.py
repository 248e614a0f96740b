"""Entry codes of a room: operators make batches, see what is used, and revoke them.

Codes are shown once, when they are made; nothing here may keep or log one.
"""
