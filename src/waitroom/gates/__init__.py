"""Gates: what a protected site installs. One pure decision, and an adapter for each framework.

`asgi` (FastAPI, Starlette, Litestar), `wsgi`, `django` and `flask` take the same `Options`.
This package must not need Redis or the server: it is installed on sites that have neither.
"""

from __future__ import annotations

from waitroom.gates.options import Options, Rule

__all__ = ["Options", "Rule"]
