"""What operators do, without HTTP and without a terminal; the server and the command line call it.

Every change leaves one line in the audit log, whoever makes it. Nothing here checks permissions.
"""
