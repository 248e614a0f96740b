"""The server: visitor API, live events, operator API, pages. Everything that speaks HTTP.

It must hold no rules of rooms: those are in the engine, and operators' actions in `operations`.
"""
