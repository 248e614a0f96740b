"""The levers of the operator page: what each would do, doing it, and taking it back.

What a change is, and who may undo it, is in `waitroom.operations`; nothing here writes to a room.
"""
