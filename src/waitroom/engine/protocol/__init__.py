"""What scripts take and return: each call is made here, and each reply is read here.

Nothing else knows the order of a verb's own arguments or reads its reply. The arguments that all
verbs share are in `memory.py`; replies of plain commands are read by those who send them.
"""
