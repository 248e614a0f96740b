"""Which passes a gate accepts: the full matrix of forgeries, keys that come and go, memory."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from waitroom.gates import keys as module
from waitroom.gates.keys import Verifier
from waitroom.passes import ALGORITHMS, LEEWAY_S, TYPE, PassKeys, generate_pem
from waitroom.tickets import KeyRing

NOW = int(time.time())
PEM = {name: generate_pem(name) for name in ALGORITHMS}
KEYS = {name: PassKeys.from_pem([pem]) for name, pem in PEM.items()}
ES256 = KEYS["ES256"]
OTHER = PassKeys.from_pem([generate_pem()])


def made(keys: PassKeys = ES256, **given: Any) -> str:
    """Sign a pass."""
    values = {"room": "concert", "ticket_id": "t", "sid": 7, "now_s": NOW, "expires_s": NOW + 60}
    return keys.sign(**{"issuer": "test", **values, **given})


def verifier(keys: PassKeys = ES256) -> Verifier:
    """Return a checker that has the public keys from a JWKS."""
    checker = Verifier(None)
    assert checker.load(json.loads(json.dumps(keys.jwks())))
    return checker


def forged(header: dict[str, Any], claims: dict[str, Any] | None = None, tail: str = "AAAA") -> str:
    """Write a token by hand."""
    body = {"iss": "t", "aud": "concert", "sub": "t", "jti": "7", "iat": NOW, "exp": NOW + 60}
    parts = [header, {**body, **(claims or {})}]
    texts = [urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*texts, tail])


def matrix() -> dict[str, str]:
    """Return everything that is not a pass for the room now."""
    kid = ES256.jwks()["keys"][0]["kid"]
    good = made()
    head, body, tail = good.split(".")
    public = ES256._first.public.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
    claims = jwt.decode(good, options={"verify_signature": False})
    private: Any = serialization.load_pem_private_key(PEM["ES256"], None)
    named = {"kid": kid, "typ": TYPE}
    ring = KeyRing([b"x" * 32])
    return {
        "expired": made(now_s=NOW - 100, expires_s=NOW - LEEWAY_S - 1),
        "other room": made(room="vip"),
        "other key": made(OTHER),
        "other key, our kid": jwt.encode(
            claims, ec.generate_private_key(ec.SECP256R1()), "ES256", named
        ),
        "other algorithm": made(KEYS["EdDSA"]),
        "none": forged({"alg": "none", **named}),
        "none, unsigned": forged({"alg": "none", **named}, tail=""),
        "None": forged({"alg": "None", **named}),
        "hmac with the public key": jwt.encode(claims, public, "HS256", named),
        "alg left out": forged(named, tail=tail),
        "kid left out": forged({"alg": "ES256", "typ": TYPE}, tail=tail),
        "typ of another kind": jwt.encode(claims, private, "ES256", {"kid": kid, "typ": "JWT"}),
        "jwk in the header": jwt.encode(claims, private, "ES256", {**named, "jwk": {"k": "x"}}),
        "jku in the header": jwt.encode(claims, private, "ES256", {**named, "jku": "https://x"}),
        "no end": jwt.encode(claims | {"exp": None}, private, "ES256", named),
        "end as text": jwt.encode(claims | {"exp": "9999999999"}, private, "ES256", named),
        "from the future": made(now_s=NOW + 600, expires_s=NOW + 900),
        "no session": jwt.encode(claims | {"jti": ""}, private, "ES256", named),
        "two rooms": jwt.encode(claims | {"aud": ["concert", "x"]}, private, "ES256", named),
        "claims swapped": f"{head}.{forged({}, {'aud': 'concert'}).split('.')[1]}.{tail}",
        "signature cut": good[:-4],
        "signature longer": good + "AAAA",
        "signature zero": f"{head}.{body}.{'A' * 86}",
        "in capitals": good.upper(),
        "padded": good + "=",
        "blank behind": good + " ",
        "ticket": ring.new_id() * 4,
        "empty": "",
        "dots": "..",
        "long": "a" * 5_000 + "." + "b" * 5_000 + ".c",
        "no text": "\ud800.\0.대기",
    }


@pytest.mark.attack
@pytest.mark.parametrize("name", matrix())
def test_what_is_no_pass_is_refused(name: str) -> None:
    """None is accepted and none raises, cold and after a good one was seen."""
    checker, text = verifier(), matrix()[name]
    assert checker.read("concert", text, NOW) is None
    assert checker.read("concert", made(), NOW) is not None
    assert checker.read("concert", text, NOW) is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_algorithm_is_read_from_its_jwks(algorithm: str) -> None:
    """A pass is valid, when first seen and later, until its end."""
    checker, text = verifier(KEYS[algorithm]), made(KEYS[algorithm])
    for _ in range(2):
        good_pass = checker.read("concert", text, NOW)
        assert good_pass is not None
        assert ("concert", "t", 7, NOW + 60, NOW + 30) == (
            good_pass.room,
            good_pass.ticket_id,
            good_pass.sid,
            good_pass.expires_s,
            good_pass.half_s,
        )
    assert checker.read("concert", text, NOW + 60 + LEEWAY_S - 1) is not None
    assert checker.read("concert", text, NOW + 60 + LEEWAY_S) is None
    assert checker.read("vip", text, NOW) is None


@pytest.mark.attack
def test_every_changed_character_spoils_a_pass() -> None:
    """Wherever one is changed."""
    checker, text = verifier(), made()
    for place in range(0, len(text), 7):
        wrong = "A" if text[place] != "A" else "B"
        assert checker.read("concert", text[:place] + wrong + text[place + 1 :], NOW) is None


@pytest.mark.attack
@given(st.text(max_size=300), st.binary(max_size=60))
def test_no_text_raises(text: str, data: bytes) -> None:
    """Whatever is presented as a pass."""
    checker, good = VERIFIER, made()
    encoded = urlsafe_b64encode(data).decode()
    for shown in (
        text,
        f"{text}.{text}.{text}",
        f"{encoded}.{encoded}.{encoded}",
        f"{good[:-9]}{text}",
    ):
        if shown != good:
            assert checker.read("concert", shown, NOW) is None


VERIFIER = verifier()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["keys", "kty", "alg", "crv", "x", "y", "n", "e"]), inner
            )
        ),
        max_leaves=8,
    )
)
def test_no_key_set_raises(document: Any) -> None:
    """Whatever a proxy answers instead of the keys, the old ones stay."""
    checker = VERIFIER
    for body in ({"keys": document}, {"keys": [document]}, {"x": document}):
        checker.load(body)
    assert checker.read("concert", made(), NOW) is not None


def test_private_and_strange_keys_are_passed_over() -> None:
    """A set may contain keys for other purposes."""
    strange = [{"kty": "oct", "k": "AA", "alg": "HS256"}, {"alg": "ES256"}, {"kty": "EC"}, "x", 7]
    checker = Verifier(None)
    assert checker.load({"keys": [*strange, *ES256.jwks()["keys"]]})
    assert checker.read("concert", made(), NOW) is not None
    assert not checker.load({"keys": strange})


@pytest.mark.attack
def test_a_removed_key_takes_its_passes_along() -> None:
    """This includes passes that were verified before; the others stay known."""
    both = PassKeys.from_pem([generate_pem(), PEM["ES256"]])
    checker = verifier(both)
    new, old = made(both), made()
    assert None not in (checker.read("concert", new, NOW), checker.read("concert", old, NOW))
    checker.load({"keys": both.jwks()["keys"][:1]})
    assert checker.read("concert", old, NOW) is None
    assert checker.read("concert", new, NOW) is not None


def test_an_unknown_key_is_asked_for_but_not_for_the_sites_own_tokens() -> None:
    """The site's own JWT in `Authorization` is not ours, and no reason to fetch keys."""
    checker = verifier()
    site = jwt.encode({"sub": "me"}, "k" * 32, "HS256", {"kid": "mine"})
    assert (None, False) == (checker.read("concert", site, NOW), checker.unknown)
    assert (None, True) == (checker.read("concert", made(OTHER), NOW), checker.unknown)


@pytest.mark.attack
def test_a_pass_of_another_deployment_with_the_same_keys() -> None:
    """It is refused by its issuer, which Waitroom sends with its keys; a given one stays."""
    ours, theirs = made(), made(issuer="https://staging.example", sid=8)
    checker = verifier()
    assert checker.read("concert", theirs, NOW) is not None, "nobody has said who lets in"
    assert checker.load({**ES256.jwks(), "issuer": "test"})
    assert checker.read("concert", theirs, NOW) is None
    assert checker.read("concert", ours, NOW) is not None
    assert [ours] == checker.live("concert", NOW)
    assert checker.load(ES256.jwks()), "an older Waitroom, in the middle of an upgrade"
    assert checker.read("concert", theirs, NOW) is None

    given = Verifier(None, "https://staging.example")
    assert given.load({**ES256.jwks(), "issuer": "test"})
    assert given.read("concert", ours, NOW) is None
    assert given.read("concert", theirs, NOW) is not None


@pytest.mark.attack
@pytest.mark.parametrize("change", [OTHER.jwks(), {**ES256.jwks(), "issuer": "another"}])
def test_keys_that_change_while_a_pass_is_verified(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A holder of a leaked key floods the gate until it goes: none of their passes stays valid."""
    checker, verify = verifier(), PassKeys.verify

    def slowly(keys: PassKeys, *given: Any, **named: Any) -> Any:
        good = verify(keys, *given, **named)
        assert checker.load(change)
        return good

    monkeypatch.setattr(PassKeys, "verify", slowly)
    assert checker.read("concert", made(), NOW) is None
    assert checker.read("concert", made(), NOW) is None
    assert [] == checker.live("concert", NOW)


def test_a_finished_session_is_over_here_at_once() -> None:
    """With all its passes, and only it."""
    checker = verifier()
    first, renewed, other = made(), made(expires_s=NOW + 90), made(sid=8)
    good_pass = checker.read("concert", first, NOW)
    assert good_pass is not None
    checker.end(good_pass)
    assert (None, None) == (
        checker.read("concert", first, NOW),
        checker.read("concert", renewed, NOW),
    )
    assert checker.read("concert", other, NOW) is not None
    assert [other] == checker.live("concert", NOW)


def test_live_passes_are_the_newest_of_each_session() -> None:
    """Not those that are over, without a session, or for another room."""
    checker = verifier()
    newest = made(expires_s=NOW + 90)
    shown = [made(), newest, made(sid=0), made(room="vip", sid=9), made(sid=10, expires_s=NOW + 1)]
    for text in shown:
        for room in ("concert", "vip"):
            checker.read(room, text, NOW)
    assert [newest] == checker.live("concert", NOW + 2)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are forgotten, and verified again when they are used."""
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 20)
    checker = verifier()
    texts = [made(sid=sid) for sid in range(1, 60)]
    assert None not in [checker.read("concert", text, NOW) for text in texts]
    assert len(checker._seen) <= 20
    assert checker.read("concert", texts[0], NOW) is not None
