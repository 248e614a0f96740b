"""The levers of the operator page: show what each would do, do it, and undo it.

What a change is, and who may undo it, is in `waitroom.operations`; nothing here writes to a room.
"""
