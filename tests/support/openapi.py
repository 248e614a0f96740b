"""The OpenAPI document of everything that a server can serve: `python -m tests.support.openapi`."""

from __future__ import annotations

import json

from waitroom.server.app import create
from waitroom.settings import Settings


def document() -> str:
    """Return the document as JSON."""
    return json.dumps(create(Settings(desk=True)).framework.openapi())


if __name__ == "__main__":
    print(document())  # noqa: T201
