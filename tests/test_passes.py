"""Passes: what one proves, which keys sign and verify, and that nobody else can make one."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import string
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from hypothesis import given, settings
from hypothesis import strategies as st

from waitroom.errors import InvalidInput, InvalidPass, InvalidTicket
from waitroom.passes import ALGORITHMS, LEEWAY_S, LONGEST_PASS, TYPE, Pass, PassKeys, generate_pem
from waitroom.tickets import KeyRing, Ticket

NOW, END, SID = 1_763_232_000, 1_763_232_600, 1_763_232_000_123_456
OLD, NEW = "o" * 40, "n" * 40
KEYS = PassKeys.derive(OLD)
PRIVATE = KEYS._first.private
KID = KEYS._first.id
HEAD = {"alg": "ES256", "kid": KID, "typ": TYPE}
CLAIMS = {
    "iss": "waitroom",
    "aud": "concert",
    "sub": "AbCdEfGhIjKlMn_-",
    "jti": str(SID),
    "iat": NOW,
    "exp": END,
}


def signed(keys: PassKeys = KEYS, room: str = "concert") -> str:
    """Return a good pass."""
    return keys.sign(room, CLAIMS["sub"], SID, NOW, END, "waitroom")  # type: ignore[arg-type]


GOOD = signed()


def part(value: object) -> str:
    """Encode a header or claims as a JWT does."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def made(head: object = HEAD, claims: object = CLAIMS, key: Any = PRIVATE) -> str:
    """Sign anything with the real key, as only its owner could."""
    text = f"{part(head)}.{part(claims)}"
    method = jwt.algorithms.get_default_algorithms()["ES256"]
    return f"{text}.{part(method.sign(text.encode(), key))}"


def refusal(token: Any, room: str | None = "concert", now_s: float = NOW + 1) -> str:
    """Return the message with which a token is refused."""
    with pytest.raises(InvalidPass) as caught:
        KEYS.verify(token, room, now_s)
    assert "pass" == caught.value.field
    return str(caught.value)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_round_trip(algorithm: str) -> None:
    """With every algorithm a pass proves room, ticket, session and end, and names its key."""
    keys = PassKeys.from_pem([generate_pem(algorithm)])
    token = signed(keys)
    assert Pass("concert", "AbCdEfGhIjKlMn_-", SID, END) == keys.verify(token, "concert", NOW)
    head = jwt.get_unverified_header(token)
    (public,) = keys.jwks()["keys"]
    assert {"alg": algorithm, "kid": public["kid"], "typ": TYPE} == head


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_any_library_can_verify(algorithm: str) -> None:
    """The published keys, which contain nothing private, are enough for a plain JWT library."""
    keys = PassKeys.from_pem([generate_pem(algorithm)])
    published = json.loads(json.dumps(keys.jwks()))
    assert not {"d", "p", "q", "k"} & published["keys"][0].keys()
    ring = jwt.PyJWKSet.from_dict(published)
    token = keys.sign("concert", "A" * 16, 7, NOW, 4_000_000_000, "https://wait.example")
    claims = jwt.decode(
        token,
        ring[published["keys"][0]["kid"]],
        audience="concert",
        issuer="https://wait.example",
        options={"require": ["iss", "aud", "sub", "jti", "iat", "exp"]},
    )
    assert ("A" * 16, "7") == (claims["sub"], claims["jti"])


def test_any_room_without_one_named() -> None:
    """If no room is asked for, the pass says which one it is for."""
    assert "concert" == KEYS.verify(GOOD, now_s=NOW).room


def test_hand_made_pass_is_accepted() -> None:
    """The forgeries below fail because of their fault: a good one made the same way passes."""
    assert Pass("concert", "AbCdEfGhIjKlMn_-", SID, END) == KEYS.verify(made(), "concert", NOW)


def test_end_and_clocks() -> None:
    """A pass ends with its session; clocks may differ by the leeway and no more."""
    assert KEYS.verify(GOOD, "concert", END + LEEWAY_S - 0.1)
    assert "over" in refusal(GOOD, now_s=END + LEEWAY_S)
    assert KEYS.verify(GOOD, "concert", NOW - LEEWAY_S)
    assert "future" in refusal(GOOD, now_s=NOW - LEEWAY_S - 0.1)


def test_clock_is_read_by_default() -> None:
    """If no time is given it is now, so last year's pass is over."""
    with pytest.raises(InvalidPass, match="over"):
        KEYS.verify(GOOD, "concert")


@pytest.mark.attack
def test_other_room() -> None:
    """A pass for one room does not open another."""
    assert "another room" in refusal(GOOD, "cinema")


@pytest.mark.attack
def test_other_keys() -> None:
    """Another Waitroom's pass is refused, even if it claims one of our keys."""
    assert "does not have" in refusal(signed(PassKeys.derive(NEW)))
    assert "forged" in refusal(made(key=ec.generate_private_key(ec.SECP256R1())))


def _public_pem() -> bytes:
    return KEYS._first.public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _hmac(alg: str, key: bytes) -> str:
    text = f"{part(HEAD | {'alg': alg})}.{part(CLAIMS)}"
    return f"{text}.{part(hmac.digest(key, text.encode(), hashlib.sha256))}"


BODY = GOOD.split(".")[1]
SIGNATURE = GOOD.split(".")[2]
FORGED = {
    "none": f"{part(HEAD | {'alg': 'none'})}.{BODY}.",
    "none, with a signature": f"{part(HEAD | {'alg': 'none'})}.{BODY}.{SIGNATURE}",
    "None": f"{part(HEAD | {'alg': 'None'})}.{BODY}.{SIGNATURE}",
    "no signature": f"{GOOD.rsplit('.', 1)[0]}.",
    "HMAC with the public key": _hmac("HS256", _public_pem()),
    "HMAC under our algorithm": _hmac("ES256", _public_pem()),
    "other algorithm": made(HEAD | {"alg": "EdDSA"}),
    "algorithm missing": made({"kid": KID, "typ": TYPE}),
    "kid of nobody": made(HEAD | {"kid": "A" * 16}),
    "kid a list": made(HEAD | {"kid": [KID]}),
    "kid missing": made({"alg": "ES256", "typ": TYPE}),
    "type JWT": made(HEAD | {"typ": "JWT"}),
    "type missing": made({"alg": "ES256", "kid": KID}),
    "own key in the header": made(HEAD | {"jwk": KEYS.jwks()["keys"][0]}),
    "key from elsewhere": made(HEAD | {"jku": "https://evil.example/jwks.json"}),
    "critical extension": made(HEAD | {"crit": ["b64"], "b64": False}),
    "header a list": made([HEAD]),
    "header no JSON": f"{part(b'{')}.{BODY}.{SIGNATURE}",
    "header deep": f"{part(b'[' * 1400)}.{BODY[:10]}.{SIGNATURE[:10]}",
    "claims a list": made(claims=[CLAIMS]),
    "claims no JSON": made(claims=b"\xff"),
    "room a list": made(claims=CLAIMS | {"aud": ["concert", "cinema"]}),
    "room no name": made(claims=CLAIMS | {"aud": "a b"}),
    "session no number": made(claims=CLAIMS | {"jti": "one"}),
    "session a number": made(claims=CLAIMS | {"jti": SID}),
    "session negative": made(claims=CLAIMS | {"jti": "-1"}),
    "end a text": made(claims=CLAIMS | {"exp": str(END)}),
    "end a fraction": made(claims=CLAIMS | {"exp": END + 0.5}),
    "beginning true": made(claims=CLAIMS | {"iat": True}),
    "not yet": made(claims=CLAIMS | {"nbf": NOW + 60}),
    "not before a text": made(claims=CLAIMS | {"nbf": "tomorrow"}),
    "end null": made(claims=CLAIMS | {"exp": None}),
    **{
        f"{name} missing": made(claims={key: CLAIMS[key] for key in CLAIMS if key != name})
        for name in CLAIMS
    },
    "claims swapped": f"{GOOD.split('.')[0]}.{part(CLAIMS | {'exp': END + 9})}.{SIGNATURE}",
    "two parts": ".".join(GOOD.split(".")[:2]),
    "four parts": f"{GOOD}.{SIGNATURE}",
    "padding": f"{GOOD}=",
    "line end": f"{GOOD}\n",
    "blank in front": f" {GOOD}",
    "too long": f"{GOOD}{'A' * LONGEST_PASS}",
    "not ASCII": GOOD.replace(".", "․"),
    "digits of another script": made(claims=CLAIMS | {"jti": "٣"}),
}


@pytest.mark.attack
@pytest.mark.parametrize("what", FORGED)
def test_forged(what: str) -> None:
    """Every known way to forge a pass, and claims that no pass has, are refused in one sentence."""
    assert refusal(FORGED[what]).startswith("pass: ")


@pytest.mark.attack
@pytest.mark.parametrize(
    "token", [None, "", b"", 7, [GOOD], pytest.param(GOOD.encode(), id="bytes")]
)
def test_not_a_text(token: Any) -> None:
    """Anything but text counts as missing."""
    assert "missing" in refusal(token)


@pytest.mark.attack
def test_every_changed_character_is_noticed() -> None:
    """No single character can be changed, not even one with unused bits."""
    for at, old in enumerate(GOOD):
        for new in {"A", "B", chr(ord(old) ^ 1), chr(ord(old) ^ 2)} - {old}:
            refusal(GOOD[:at] + new + GOOD[at + 1 :])
    for new in set(string.ascii_letters + string.digits + "-_") - {GOOD[-1]}:
        refusal(GOOD[:-1] + new)


@pytest.mark.attack
@settings(deadline=None)
@given(st.text(max_size=400) | st.builds(".".join, st.lists(st.text(max_size=90), max_size=4)))
def test_any_text_is_refused(text: str) -> None:
    """Nothing else is accepted as a pass or raises anything else."""
    refusal(text)


@settings(deadline=None)
@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_any_claim_is_refused_or_read(value: Any) -> None:
    """Whatever a claim contains, the answer is a pass or a refusal, never another error."""
    for name in CLAIMS:
        token = made(claims=CLAIMS | {name: value})
        with contextlib.suppress(InvalidPass):
            assert isinstance(KEYS.verify(token, None, NOW), Pass)


@pytest.mark.attack
def test_ticket_is_no_pass_and_pass_no_ticket() -> None:
    """Neither can replace the other, though one secret makes both."""
    ring = KeyRing.from_text(OLD)
    ticket = ring.sign(Ticket("concert", "A" * 16, 1, 1, 1))
    assert "a ticket is not a pass" in refusal(ticket)
    with pytest.raises(InvalidTicket):
        ring.read("concert", GOOD)


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_derived_keys_agree(algorithm: str) -> None:
    """Servers with the same secret make the same keys; another secret makes others."""
    first, second = PassKeys.derive(OLD, algorithm), PassKeys.derive(f" {OLD}\n", algorithm)
    assert first.jwks() == second.jwks()
    assert second.verify(signed(first), "concert", NOW)
    assert first.jwks() != PassKeys.derive(NEW, algorithm).jwks()


def test_derived_key_stays() -> None:
    """The derivation is a promise: a release that changed it would end every pass in use."""
    assert "f8EQiaQrlAvf2Tb2" == KID


def test_rotation() -> None:
    """The newest key signs, every listed one verifies, and a dropped one does not."""
    both = PassKeys.derive(f"{NEW},{OLD}")
    assert both.verify(GOOD, "concert", NOW)
    assert PassKeys.derive(NEW).verify(signed(both), "concert", NOW)
    assert 2 == len(both.jwks()["keys"])
    with pytest.raises(InvalidPass, match="does not have"):
        PassKeys.derive(NEW).verify(GOOD, "concert", NOW)


def test_keys_of_several_kinds() -> None:
    """A ring may change its algorithm: each key keeps its own, and several share one file."""
    pems = [generate_pem("EdDSA"), generate_pem("ES256")]
    old, ring = PassKeys.from_pem(pems[1:]), PassKeys.from_pem([b"\n".join(pems)])
    assert ["EdDSA", "ES256"] == [key["alg"] for key in ring.jwks()["keys"]]
    assert ring.verify(signed(old), "concert", NOW)
    assert PassKeys.from_pem(pems).jwks() == ring.jwks()


def test_public_key_verifies_only() -> None:
    """With only the public key you can check passes but make none."""
    reader = PassKeys.from_pem([_public_pem()])
    assert reader.verify(GOOD, "concert", NOW)
    with pytest.raises(InvalidInput, match="cannot sign"):
        signed(reader)


def _pem(key: Any, password: bytes | None = None) -> bytes:
    lock: Any = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    kind = serialization.PrivateFormat.PKCS8
    data: bytes = key.private_bytes(serialization.Encoding.PEM, kind, lock)
    return data


@pytest.mark.parametrize(
    ("pem", "why"),
    [
        (_pem(ec.generate_private_key(ec.SECP384R1())), "P-256"),
        (_pem(rsa.generate_private_key(65537, 1024)), "2048 bits"),  # noqa: S505 - that is the point
        (_pem(ed448.Ed448PrivateKey.generate()), "Ed25519"),
        (_pem(ec.generate_private_key(ec.SECP256R1()), b"x"), "password"),
        (generate_pem().replace(b"M", b"!", 1), "cannot be read"),
        (b"hello", "holds no key in PEM"),
        (b"", "holds no key in PEM"),
    ],
    ids=["P-384", "RSA 1024", "Ed448", "password", "damaged", "text", "empty"],
)
def test_unfit_keys(pem: bytes, why: str) -> None:
    """An unusable key is refused at start, with what would fit, and is not shown."""
    with pytest.raises(InvalidInput, match=why) as caught:
        PassKeys.from_pem([pem])
    assert "pass_keys" == caught.value.field
    assert not pem or pem.decode()[40:80] not in str(caught.value) or pem == b"hello"


def test_no_keys_and_twins() -> None:
    """A ring needs a key, and each only once."""
    pem = generate_pem()
    with pytest.raises(InvalidInput, match="no key"):
        PassKeys.from_pem([])
    with pytest.raises(InvalidInput, match="twice"):
        PassKeys.from_pem([pem, pem])


def test_secret_is_checked() -> None:
    """A secret too short for tickets is too short for passes, and RS256 needs its own key."""
    with pytest.raises(InvalidInput, match="32 bytes"):
        PassKeys.derive("short")
    for algorithm in ("RS256", "HS256", "none"):
        with pytest.raises(InvalidInput, match="ES256 or EdDSA"):
            PassKeys.derive(OLD, algorithm)
    with pytest.raises(InvalidInput, match="RS256"):
        generate_pem("HS256")


def test_keys_are_not_shown() -> None:
    """A ring's text form, in a log or a traceback, contains no key."""
    assert "PassKeys(1 keys, ES256)" == repr(KEYS)
