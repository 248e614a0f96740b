"""The page of one room: its numbers, charts and signs, and the notes on it.

What an operator can change in a room is in `levers/` and `rooms/`; this must not change a policy.
"""
