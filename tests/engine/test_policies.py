"""How a policy is stored: everything is read back as written, by older and newer processes too."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waitroom.engine import policies
from waitroom.models import MOMENTS, POLICY_FIELDS, PRESETS, BeforeOpen, Eta, Mode, Policy, WhenAway
from waitroom.moments import from_ms

SPECS = {spec.name: spec.metadata for spec in dataclasses.fields(Policy)}

LINE = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))


def lines(most: int, letters: st.SearchStrategy[str] = LINE) -> st.SearchStrategy[str]:
    """Return any text that is allowed."""
    return st.text(letters, min_size=1, max_size=most).filter(lambda text: text.strip() != "")


TEXTS: dict[str, st.SearchStrategy[str]] = {
    "time_zone": st.sampled_from(["Asia/Seoul", "UTC"]),
    "title": lines(120),
    "message": lines(1_000, LINE | st.just("\n")),
    "ready": lines(300),
    "logo": st.sampled_from(["/logo.svg", "data:image/gif;base64,AAAA"]),
    "colour": st.from_regex(r"#[0-9a-f]{6}", fullmatch=True),
    "ended_text": lines(1_000, LINE | st.just("\n")),
    "ended_picture": st.sampled_from(["/over.png", "data:image/gif;base64,AAAA"]),
    "ended_link": st.sampled_from(["/next", "https://shop.example/next"]),
    "go_to": st.sampled_from(["/in", "https://shop.example/in?a=b"]),
    "picture": st.just("/stage.webp"),
    "event_date": lines(120),
    "event_place": lines(120),
    "background": st.from_regex(r"#[0-9a-f]{6}", fullmatch=True),
    "font": st.just("/static/event.woff2"),
    "footer": lines(500, LINE | st.just("\n")),
    "help_link": st.sampled_from(["/help", "mailto:help@shop.example", "tel:+82-2-123-4567"]),
}


TAGS = st.sampled_from(["ko", "en", "zh-Hant", "pt-BR", "es-419"])


def stored(policy: Policy, version: int = 1) -> dict[bytes, bytes]:
    """Return the hash as a server would store it."""
    flat = ["version", str(version), *policies.write(policy)]
    return {flat[i].encode(): flat[i + 1].encode() for i in range(0, len(flat), 2)}


def numbers(name: str) -> st.SearchStrategy[Any]:
    """Return any allowed value for a number."""
    low, high = SPECS[name]["low"], SPECS[name]["high"]
    if SPECS[name]["unit"] == "seconds":
        return st.integers(round(low * 1000), round(high * 1000)).map(lambda ms: ms / 1000)
    whole = st.integers(low, high)
    return whole.map(from_ms) if SPECS[name]["unit"] == "moment" else whole


@st.composite
def any_policy(draw: st.DrawFn) -> Policy:
    """Return any policy that is allowed."""
    values: dict[str, Any] = {}
    for name, meta in SPECS.items():
        if meta["unit"] in ("people", "seconds", "moment"):
            required = name in ("recover_s", "max_defers")
            values[name] = draw(numbers(name) if required else st.none() | numbers(name))
    for field, partner in (("batch", "every_s"), ("max_entries", "per_s")):
        if None in (values[field], values[partner]):
            values[field] = values[partner] = None
    values["mode"] = draw(st.sampled_from(Mode))
    values["eta"] = draw(st.sampled_from(Eta))
    values["when_away"] = draw(st.sampled_from(WhenAway))
    values["renewable"] = draw(st.booleans())
    for name, texts in TEXTS.items():
        values[name] = draw(st.none() | texts)
    if values["ends_at"] and values["opens_at"] and values["ends_at"] <= values["opens_at"]:
        values["ends_at"] = None
    local = st.fixed_dictionaries({"title": TEXTS["title"], "footer": TEXTS["footer"]})
    values["texts"] = draw(st.none() | st.dictionaries(TAGS, local, min_size=1, max_size=3))
    if values["opens_at"] is not None:
        values["before_open"] = draw(st.sampled_from(BeforeOpen))
    return Policy(**values)


@settings(deadline=None)
@given(any_policy(), st.integers(1, 10**9))
def test_round_trip(policy: Policy, version: int) -> None:
    """Any policy is read back as written, to the millisecond."""
    assert (policy, version) == policies.read(stored(policy, version))


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    """Every preset is read back as written."""
    assert (PRESETS[name], 1) == policies.read(stored(PRESETS[name]))


def test_every_field_is_written() -> None:
    """A policy is written with all its fields, by name, in order; times with their unit."""
    assert list(POLICY_FIELDS) == list(policies.STORED)
    assert list(policies.STORED.values()) == policies.write(Policy())[::2]
    assert {f"{name}_ms" for name in MOMENTS} == set(policies.STORED.values()) - set(POLICY_FIELDS)


def test_readable() -> None:
    """Values look natural in redis-cli: no limit is empty, whole seconds are whole."""
    raw = stored(Policy(capacity=50, session_s=600, renewable=True, opens_at=from_ms(1_900)))
    shown = [raw[name] for name in (b"capacity", b"session_s", b"renewable", b"batch", b"mode")]
    assert [b"50", b"600", b"1", b"", b"open"] == shown
    assert b"1900" == raw[b"opens_at_ms"]


def test_fields_of_a_newer_version() -> None:
    """A field that this version does not know is ignored."""
    raw = stored(Policy(capacity=5)) | {b"perfume": b"rose"}
    assert Policy(capacity=5) == policies.read(raw)[0]


def test_fields_of_an_older_version() -> None:
    """A field that an older version did not write has its default."""
    raw = stored(Policy(capacity=5, presence_s=20))
    del raw[b"presence_s"]
    assert Policy(capacity=5) == policies.read(raw)[0]


def test_policies_of_an_older_version() -> None:
    """A policy stored before pages had texts is read with the defaults."""
    raw = stored(Policy(capacity=5))
    for name in ("when_away", *TEXTS):
        del raw[name.encode()]
    assert (Policy(capacity=5), 1) == policies.read(raw)
