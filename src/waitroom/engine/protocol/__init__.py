"""What scripts take and answer: each call is made here, and each reply is read here.

Nothing else knows the order of a verb's own arguments or looks into its reply. The arguments that
all verbs share are in `memory.py`; what plain commands answer is read by those who send them.
"""
