"""Accounts and claims: whose place it is, and every claim that must not count."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode

import pytest

from waitroom.accounts import CLAIM_LIFE_S, LONGEST_CLAIM_S, ClaimKey, ClaimUse
from waitroom.errors import ClaimRefused, InvalidInput
from waitroom.tickets import KeyRing

NOW_S = 1_800_000_000
OLD, NEW = b"the older secret of accounts, 32b", b"the newer secret of accounts, 32b"
RING = KeyRing([OLD])
KEY = RING.claim_key("concert")
ANN = KEY.account("concert", "ann@example.com")


def read(text: str, room: str = "concert", ring: KeyRing = RING, now_s: float = NOW_S) -> ClaimUse:
    """Read a claim as a server does."""
    return ring.read_claim(room, text, now_s)


def test_a_claim() -> None:
    """A claim carries the account, and is good for less than a minute."""
    claim = read(KEY.claim("concert", ANN, NOW_S))
    _, score, salt = claim.text.split()
    assert (ANN, NOW_S + CLAIM_LIFE_S) == (claim.id, int(score) >> 21)
    assert KEY.salt_name == salt
    assert CLAIM_LIFE_S < LONGEST_CLAIM_S


@pytest.mark.attack
def test_a_claim_does_not_tell_the_salt() -> None:
    """Whoever reads claims cannot compute the account of anybody: the key of that is in none."""
    raw = urlsafe_b64decode(KEY.claim("concert", ANN, NOW_S) + "==")
    printed = urlsafe_b64decode(KEY.text().removeprefix("wrc_") + "==")
    salt = printed[5:21]
    assert salt == KEY.salt
    assert not [at for at in range(13) if salt[at : at + 4] in raw]
    named = b"account:concert\0ann@example.com"
    keys = {raw[at : at + size] for size in (12, 16, 32) for at in range(len(raw))}
    assert urlsafe_b64decode(ANN) not in {hmac.digest(key, named, "sha256")[:12] for key in keys}


def test_the_signing_key_follows_the_fingerprint() -> None:
    """The salt has no part in it but through its fingerprint, so a server never needs the salt."""
    salt_print = hmac.digest(KEY.salt, b"fingerprint", "sha256")[:16]
    assert KEY.key == RING._signing_key(KEY.key_id, salt_print, "concert")


@pytest.mark.attack
def test_forged_claims_are_not_remembered() -> None:
    """Made-up beginnings fill no memory; a good claim's key is remembered, and for its room."""
    ring = KeyRing([OLD])
    for number in range(20):
        forged = ClaimKey(KEY.key_id, bytes([number] * 16), KEY.key)
        with pytest.raises(ClaimRefused):
            read(forged.claim("concert", ANN, NOW_S), ring=ring)
    assert {} == ring._claims._proven
    good = KEY.claim("concert", ANN, NOW_S)
    assert [ANN, ANN] == [read(good, ring=ring).id for _ in range(2)]
    with pytest.raises(ClaimRefused):
        read(good, room="other", ring=ring)
    with pytest.raises(ClaimRefused):
        read(good[:-1] + ("A" if good[-1] != "A" else "Q"), ring=ring)
    assert [("concert", good[:28])] == list(ring._claims._proven)


def test_few_keys_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rooms there are, a process remembers a bounded number of keys."""
    monkeypatch.setattr("waitroom.accounts._MOST_KEYS", 3)
    ring = KeyRing([OLD])
    for number in range(10):
        room = f"room-{number}"
        assert ANN == read(ring.claim_key(room).claim(room, ANN, NOW_S), room, ring).id
        assert len(ring._claims._proven) <= 3


def test_an_account_is_a_ticket_id_and_hides_the_user() -> None:
    """An account is 16 characters; it differs by user and by room, and never by the time."""
    other = RING.claim_key("other")
    accounts = {ANN, KEY.account("concert", "ben"), other.account("other", "ann@example.com")}
    assert 3 == len(accounts)
    assert {16} == {len(account) for account in accounts}
    assert ANN == RING.claim_key("concert").account("concert", "ann@example.com")


def test_no_two_claims_are_equal() -> None:
    """Each claim has a nonce of its own."""
    claims = {read(KEY.claim("concert", ANN, NOW_S)).text.split()[0] for _ in range(100)}
    assert 100 == len(claims)


def test_a_key_as_text() -> None:
    """A claim key is one word that starts with `wrc_`, and is read again as it was."""
    text = KEY.text()
    assert text.startswith("wrc_")
    assert KEY == ClaimKey.parse(text)


@pytest.mark.parametrize(
    "text", ["", "wrc_", "wrc_AAAA", KEY.text()[:-1], KEY.text() + "A", "wr_" + KEY.text(), None]
)
def test_what_is_no_key(text: str) -> None:
    """Anything else is refused with a sentence that says how to make one."""
    with pytest.raises(InvalidInput, match="waitroom claim-key ROOM"):
        ClaimKey.parse(text)


@pytest.mark.attack
def test_another_rooms_claim() -> None:
    """A claim counts in its own room only, and a key of one room signs for no other."""
    with pytest.raises(ClaimRefused):
        read(KEY.claim("concert", ANN, NOW_S), room="other")
    with pytest.raises(ClaimRefused):
        read(KEY.claim("other", ANN, NOW_S), room="other")
    with pytest.raises(ClaimRefused):
        read(KEY.claim("other", ANN, NOW_S), room="concert")


@pytest.mark.parametrize("late_s", [CLAIM_LIFE_S, CLAIM_LIFE_S + 3_600, -16, -86_400])
def test_an_old_claim(late_s: int) -> None:
    """A claim is refused once it has expired, and if it lasts for more than a minute from now."""
    with pytest.raises(ClaimRefused):
        read(KEY.claim("concert", ANN, NOW_S), now_s=NOW_S + late_s)


def test_clocks_may_differ() -> None:
    """A gate whose clock is 15 s ahead or 40 s behind is understood."""
    for wrong_s in (15, -40):
        assert ANN == read(KEY.claim("concert", ANN, NOW_S + wrong_s)).id


@pytest.mark.attack
def test_every_byte_counts() -> None:
    """A claim with any other character, shortened or lengthened, is refused."""
    text = KEY.claim("concert", ANN, NOW_S)
    for at, letter in enumerate(text):
        changed = text[:at] + ("A" if letter != "A" else "B") + text[at + 1 :]
        with pytest.raises(ClaimRefused):
            read(changed)
    for other in ("", text[:-1], text + "A", text + "=", "é" * 40, "A" * 300):
        with pytest.raises(ClaimRefused):
            read(other)


def test_another_secret() -> None:
    """A claim of another deployment is refused."""
    with pytest.raises(ClaimRefused):
        read(KeyRing([NEW]).claim_key("concert").claim("concert", ANN, NOW_S))


def test_rotation_keeps_accounts() -> None:
    """A new ring key in front, a renewed claim key, and the old key's end: the account stays."""
    both = KeyRing([NEW, OLD])
    assert ANN == read(KEY.claim("concert", ANN, NOW_S), ring=both).id
    newer = both.claim_key("concert", KEY)
    assert newer != KEY
    assert ANN == newer.account("concert", "ann@example.com")
    alone = KeyRing([NEW])
    assert ANN == read(newer.claim("concert", ANN, NOW_S), ring=alone).id
    with pytest.raises(ClaimRefused):
        read(KEY.claim("concert", ANN, NOW_S), ring=alone)


def test_without_renewing_the_salt_follows_the_oldest_key() -> None:
    """Keys made at any time know the same accounts, as long as the oldest secret is listed."""
    both = KeyRing([NEW, OLD])
    assert ANN == both.claim_key("concert").account("concert", "ann@example.com")
    assert ANN != KeyRing([NEW]).claim_key("concert").account("concert", "ann@example.com")


@pytest.mark.parametrize("identity", ["", "x" * 1_025])
def test_identities_are_bounded(identity: str) -> None:
    """A user id has 1 to 1,024 characters."""
    with pytest.raises(InvalidInput):
        KEY.account("concert", identity)
