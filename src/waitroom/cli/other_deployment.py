"""Whether another deployment signs with our keys: what `doctor --other` checks.

The public keys of passes show it, because they are made from the secret unless others are given.
"""

from __future__ import annotations

import json
from urllib.error import URLError
from urllib.request import urlopen

from waitroom.cli.verdict import Check, fail, ok, warn
from waitroom.credentials.pass_keys import load_pass_keys
from waitroom.credentials.secret import secret_text
from waitroom.errors import InvalidInput
from waitroom.settings import Settings

_DEADLINE_S = 5.0
_MOST_BYTES = 1_000_000
_MADE_FROM_A_SECRET = ("ES256", "EdDSA")


def other_deployment(settings: Settings, url: str) -> Check:
    """Compare our keys with the public keys that a deployment publishes at its address."""
    if not url.startswith(("http://", "https://")):
        raise InvalidInput("other", "must be the address of a Waitroom, like https://wait.example")
    name = f"keys of {url}"
    try:
        theirs = _public_keys(url)
        secret, passes = _our_keys(settings)
    except (URLError, OSError, ValueError, TypeError, KeyError) as error:
        why = f"its keys of passes cannot be read ({error})"
        return warn(name, why, "give the address at which its /.well-known/jwks.json answers")
    if theirs & secret:
        return fail(
            name,
            "it has the same secret, so each takes the other's tickets",
            "give each deployment a secret of its own, made by `openssl rand -base64 32`",
        )
    if theirs & passes:
        return fail(name, "it has the same `pass_keys`", "give each deployment its own")
    return ok(name, "none of them is made from this secret, and none is used here")


def _public_keys(url: str) -> set[str]:
    """Return the ids of the keys that a deployment publishes."""
    address = url.rstrip("/") + "/.well-known/jwks.json"
    with urlopen(address, timeout=_DEADLINE_S) as reply:  # noqa: S310 - http or https, see above
        return {str(key["kid"]) for key in json.loads(reply.read(_MOST_BYTES))["keys"]}


def _our_keys(settings: Settings) -> tuple[set[str], set[str]]:
    """Return the ids of all keys that may be made from our secret, and of those in use."""
    from waitroom.passes import PassKeys  # slow to import, and only this option needs it

    secret = secret_text(settings)
    made = [PassKeys.derive(secret, algorithm) for algorithm in _MADE_FROM_A_SECRET]
    ours = load_pass_keys(settings).jwks()["keys"]
    return (
        {key["kid"] for keys in made for key in keys.jwks()["keys"]},
        {key["kid"] for key in ours},
    )
