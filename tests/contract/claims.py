"""Who somebody is: keys of claims, the accounts of users, and claims as gates sign them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from waitroom.accounts import CLAIM_LIFE_S, ClaimKey
from waitroom.errors import InvalidInput
from waitroom.gates.identities import user_id
from waitroom.tickets import KeyRing

NOW_S = 1_800_000_000
RING = KeyRing([b"the secret of the contract, 32 b+"])
NEWER = KeyRing([b"a newer secret of the contract 32", b"the secret of the contract, 32 b+"])
KEY, OTHER = RING.claim_key("concert"), RING.claim_key("other")
RENEWED = NEWER.claim_key("concert", KEY)
USERS = ["ann", "ann@example.com", "7", "대기열", "ann\0", " ann ", "\U0001f39f", "x" * 1_024]
_ROOMS = ["concert", "a", "r" * 64]
_GIVEN = [None, False, "", "ann", "False", 0, 7, -7, 2**53 - 1, True, {"id": 7}, [], ["ann"]]
_GOOD = KEY.text()
_BAD = ["", "wrc_", _GOOD[4:], _GOOD[:-1], _GOOD + "A", _GOOD + "=", "wr_" + _GOOD[4:], "wrc_Ag"]


def document() -> dict[str, Any]:
    """Return the file; a claim of each case is read again as a server does."""
    assert KEY.account("concert", "ann") == RENEWED.account("concert", "ann")
    return {
        "about": "Claim keys, the accounts of users (`cases`), and claims at `now_s` with a nonce. "
        "A claim is good for `life_s`; gates draw the nonce at random. `identities`: the user that "
        "a site's own function names ('' = nobody), or that its answer is refused.",
        "now_s": NOW_S,
        "life_s": CLAIM_LIFE_S,
        "keys": [_key(text) for text in (_GOOD, RENEWED.text(), OTHER.text(), *_BAD)],
        "cases": [
            {"key": key.text(), "room": room, "user": user, "account": key.account(room, user)}
            for key, room in ((KEY, "concert"), (RENEWED, "concert"), (OTHER, "other"))
            for user in USERS
        ],
        "identities": [_identity(given) for given in _GIVEN],
        "claims": [_claim(room, number) for number, room in enumerate(_ROOMS)],
    }


def _key(text: str) -> dict[str, Any]:
    try:
        ClaimKey.parse(text)
    except InvalidInput:
        return {"key": text, "good": False}
    return {"key": text, "good": True}


def _identity(given: object) -> dict[str, Any]:
    try:
        return {"given": given, "user": user_id(given) or ""}
    except InvalidInput:
        return {"given": given, "refused": True}


def _claim(room: str, number: int) -> dict[str, Any]:
    key, nonce = NEWER.claim_key(room), bytes([number] * 7 + [255])
    account = key.account(room, "ann")
    claim = key.claim(room, account, NOW_S, nonce)
    assert account == NEWER.read_claim(room, claim, NOW_S).id
    assert key.salt not in urlsafe_b64decode(claim + "==")  # only its fingerprint
    shown = urlsafe_b64encode(nonce).rstrip(b"=").decode()
    return {"key": key.text(), "room": room, "account": account, "nonce": shown, "claim": claim}
