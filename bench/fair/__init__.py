"""`make bench-fair`: what fair entry costs visitors, attackers and the server.

Each module measures one way: its `LINES` name the figures, its `measure` fills them in. A new way
(accounts, codes) is a module of its own, added to `PARTS` in `__main__.py`.
"""
