"""What a newcomer shows before a place is given: who they are, an entry code, a solved challenge.

Nothing here asks Redis for a place, and nobody who holds a ticket of the room comes here. It must
not import other faces.
"""
