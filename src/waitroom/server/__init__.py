"""The server: visitor API, live events, operator API, pages. Everything that speaks HTTP.

It must hold no rules of rooms: they are in the engine, and what operators do in `operations`.
"""
