"""The base of API keys and host keys: created, hashed and recognised the same way."""

from __future__ import annotations

import asyncio
import hmac

import pytest

from waitroom.credentials import bearer_keys
from waitroom.credentials.bearer_keys import (
    FRESH_S,
    IN_TEXT,
    BearerKey,
    BearerKeys,
    Stored,
    digest_of,
    draw,
    mark_of,
)

PREFIXES = ["wr_", "wrh_"]


class Kept(BearerKeys[BearerKey]):
    """Keys stored in a list, which counts how often it is read."""

    def __init__(self, prefix: str, fixed: Stored[BearerKey] | None = None) -> None:
        super().__init__(prefix, fixed)
        self.prefix = prefix
        self.stored: list[Stored[BearerKey]] = []
        self.loads = 0

    def make(self) -> tuple[str, BearerKey]:
        """Make a key."""
        new = draw(self.prefix)
        key = BearerKey(id=new.id, name="a", created_ms=new.created_ms, mark=mark_of(new.digest))
        self.stored.append(Stored(key, new.digest))
        return new.text, key

    async def load(self) -> list[Stored[BearerKey]]:
        """Return them, after others had their turn."""
        self.loads += 1
        await asyncio.sleep(0)
        return [*self.stored]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_key_is_recognised(prefix: str) -> None:
    """Only by its whole text, and by its id; the hash and the mark do not reveal the secret."""
    keys = Kept(prefix)
    text, key = keys.make()
    assert (key, key) == (await keys.find(text), await keys.get(key.id))
    other = "wrh_" if prefix == "wr_" else "wr_"
    last = "a" if text[-1] != "a" else "b"
    wrong = ["", text[:-1], text[:-1] + last, text + "x", text.replace(prefix, other), "\ud800"]
    assert [None] * len(wrong) == [await keys.find(word) for word in wrong]
    secret = text.removeprefix(f"{prefix}{key.id}_")
    assert 43 == len(secret)
    for shown in (repr(key), repr(keys.stored), repr(draw(prefix)), key.mark):
        assert secret not in shown
    assert key.mark not in repr(key)


async def test_a_fixed_key_needs_no_storage() -> None:
    """It is found by its text and by its id, without a query."""
    fixed = BearerKey(id="settings", name="settings", created_ms=0)
    keys = Kept("wr_", Stored(fixed, digest_of("x" * 30)))
    assert (fixed, fixed, 0) == (await keys.find("x" * 30), await keys.get("settings"), keys.loads)
    assert await Kept("wr_").get("settings") is None


async def test_callers_share_a_question() -> None:
    """However many requests come, and whatever they show, the storage is read once in `FRESH_S`."""
    keys = Kept("wr_")
    text, key = keys.make()
    answers = await asyncio.gather(*(keys.find(word) for word in (text, "bad") for _ in range(50)))
    assert ([key] * 50 + [None] * 50, 1) == (answers, keys.loads)
    keys._fresh_until += 60  # longer than a machine stalls
    await keys.find(text)
    assert 1 == keys.loads
    keys._fresh_until -= 60 + FRESH_S
    await keys.find(text)
    assert 2 == keys.loads


async def test_a_removed_key_is_refused_at_once() -> None:
    """Here at once; elsewhere once the copy is old."""
    keys = Kept("wr_")
    text, key = keys.make()
    await keys.find(text)
    keys.stored.clear()
    assert key == await keys.find(text)
    keys.changed(removed=key.id)
    assert await keys.find(text) is None


async def test_every_refusal_is_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same number of hashes and comparisons, whether an id exists or not."""
    keys = Kept("wr_")
    _, key = keys.make()
    work: list[str] = []
    compare, digest = hmac.compare_digest, digest_of

    def comparing(a: bytes, b: bytes) -> bool:
        work.append(f"compare {len(a)} and {len(b)} bytes")
        return compare(a, b)

    def hashing(text: str) -> bytes:
        work.append("hash")
        return digest(text)

    monkeypatch.setattr(hmac, "compare_digest", comparing)
    monkeypatch.setattr(bearer_keys, "digest_of", hashing)
    refusals = []
    for text in (f"wr_{key.id}_" + "a" * 43, "wr_0123456789_" + "a" * 43, "wr_", ""):
        work.clear()
        assert await keys.find(text) is None
        refusals.append([*work])
    assert [["hash", "compare 32 and 32 bytes"] * 2] * 4 == refusals


@pytest.mark.parametrize("prefix", [*PREFIXES, "whs_", "whsec_"])
def test_masking(prefix: str) -> None:
    """Wherever a key is in a text, only its kind is left."""
    text = draw(prefix).text
    assert f"sent {prefix}*** twice" == IN_TEXT.sub(r"\1***", f"sent {text} twice")
