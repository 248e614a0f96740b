"""The page's forms, as bodies of the API: what a browser without a script sends."""

from __future__ import annotations

import secrets
from urllib.parse import parse_qs

import msgspec

from waitroom.entry_codes import LONGEST_CODE
from waitroom.errors import BadRequest
from waitroom.server.http.request import VisitorRequest
from waitroom.server.waiting.facts import KEY

Form = dict[str, str]


def read(body: bytes) -> Form:
    """Read a form; an unreadable one counts as empty."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=5)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def show_code(request: VisitorRequest, form: Form, **proof: str) -> None:
    """Turn the form of a join into the body of the API, with the key of this browser."""
    code, key = form.get("code"), form.get("key", "")
    if not KEY.fullmatch(key):
        key = secrets.token_urlsafe(16)
    if code is not None:
        request.body = msgspec.json.encode({"code": code[:LONGEST_CODE], **proof})
        request.headers = [*request.headers, (b"idempotency-key", key.encode())]


def places(form: Form) -> bytes:
    """Turn the form of a defer into the body of the API."""
    try:
        return msgspec.json.encode({"places": int(form.get("places", "")[:10])})
    except ValueError:
        raise BadRequest("the form needs a whole number `places`") from None
