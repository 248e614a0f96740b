"""The preview of the waiting page for operators: every face of a room, before visitors see it.

It stands above the faces: the operator's session from one, the page from another.
"""
