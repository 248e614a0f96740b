"""The server: visitor API, live events, operator API, pages. Everything that speaks HTTP."""
