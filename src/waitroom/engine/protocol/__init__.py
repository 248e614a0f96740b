"""What scripts take and return: each call is built here, and each reply is read here.

Nothing else knows the order of a verb's own arguments or reads its reply. The arguments that all
verbs share are in `memory.py`; whoever sends a plain command reads its reply.
"""
