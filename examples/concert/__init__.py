"""A concert hall sells its seats behind a waiting room: FastAPI, SQLite and the ASGI gate.

Start reading at `booking.py` (what the site does) and `app.py` (how it is put behind the gate).
"""
