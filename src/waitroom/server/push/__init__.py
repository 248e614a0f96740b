"""Web Push over HTTP: browsers subscribe, and are told when their turn is near and when it comes.

It must not import another face. Only a server whose settings have `push` sends anything: that needs
the extra `waitroom[push]`.
"""
