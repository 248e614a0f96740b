"""The fields of a policy as a form: all of them, read back as shown, each with its error."""

from __future__ import annotations

import pytest

from waitroom.models import POLICY_FIELDS, PRESETS, Policy
from waitroom.server.operator import words as say
from waitroom.server.operator.rooms import policy_form
from waitroom.server.pages.text import LANGUAGES, load_text

RICH = Policy(
    capacity=50,
    batch=5,
    every_s=0.25,
    opens_at="2030-03-01T20:00:00.123+09:00",  # type: ignore[arg-type]
    ends_at="2030-03-02T20:00:07+09:00",  # type: ignore[arg-type]
    time_zone="Asia/Seoul",
    renewable=True,
    message="Two\nlines",
    texts={"ko": {"title": "오로라"}},
)


def test_every_field_is_in_one_group() -> None:
    """A field that is added to the policy must get a group."""
    grouped = [name for names in policy_form.GROUPS.values() for name in names]
    assert sorted(POLICY_FIELDS) == sorted(grouped)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_field_has_its_words(lang: str) -> None:
    """Its name, its meaning, and every value that it takes, in both languages."""
    text = load_text("operator", lang)
    draft = policy_form.read({}, Policy())
    for name in POLICY_FIELDS:
        assert text(f"help_{name}")
        assert text(f"field_{name}")
        for word in draft.field(name).choices:
            assert say.choice(text, name, word) != word or word in ("yes", "no")
    for name in (*PRESETS, "none"):
        assert text(f"preset_{name.replace('-', '_')}_about")


@pytest.mark.parametrize("policy", [Policy(), RICH, *PRESETS.values()])
def test_what_was_shown_changes_nothing(policy: Policy) -> None:
    """A form that is sent back unchanged means no change, even to the millisecond."""
    form = {name: policy_form.shown_in_form(policy, name) for name in POLICY_FIELDS}
    form["message"] = form["message"].replace("\n", "\r\n")
    draft = policy_form.read(form, policy)
    assert ({}, {}) == (draft.changes, draft.errors)


def test_moments_are_of_the_zone_of_the_form() -> None:
    """Changing the zone moves no untouched time; a typed time is read in that zone, else in UTC."""
    assert "2030-03-01T20:00" == policy_form.shown_in_form(RICH, "opens_at")
    same = {name: policy_form.shown_in_form(RICH, name) for name in ("opens_at", "ends_at")}
    moved = policy_form.read({**same, "time_zone": "UTC"}, RICH)
    assert {"time_zone": "UTC"} == moved.changes
    typed = policy_form.read({"opens_at": "2030-03-01T12:00", "time_zone": "UTC"}, RICH).policy
    assert "2030-03-01T12:00:00.000Z" == typed.as_dict()["opens_at"]
    plain = policy_form.read({"opens_at": "2030-03-01T12:00"}, Policy()).policy
    assert "2030-03-01T12:00:00.000Z" == plain.as_dict()["opens_at"]


def test_empty_is_no_limit() -> None:
    """Blanks remove a limit or a text; a required field says so."""
    draft = policy_form.read({"capacity": " ", "message": "", "texts": ""}, RICH)
    assert ({"capacity": None, "message": None, "texts": None}, {}) == (
        draft.changes,
        draft.errors,
    )
    assert {"recover_s"} == set(policy_form.read({"recover_s": ""}, RICH).errors)


def test_every_wrong_field_is_named() -> None:
    """All errors at once, not one per attempt, and the input is kept."""
    form = {
        "capacity": "0",
        "session_s": "soon",
        "colour": "red",
        "mode": "shut",
        "renewable": "perhaps",
        "texts": "{",
        "opens_at": "tomorrow",
        "title": "Fine",
    }
    draft = policy_form.read(form, Policy())
    assert form.keys() - {"title"} == draft.errors.keys()
    assert "soon" == draft.field("session_s").typed
    for lang in LANGUAGES:
        text = load_text("operator", lang)
        for name in draft.errors:
            assert len(say.wrong(text, draft.field(name))) > 5


def test_pairs_are_named_by_their_partner() -> None:
    """A pace without its interval is an error at the interval, in both languages."""
    draft = policy_form.read({"batch": "5"}, Policy())
    assert {"every_s"} == set(draft.errors)
    korean = say.wrong(load_text("operator", "ko"), draft.field("every_s"))
    assert "‘" in korean
    assert "People per step" in say.wrong(load_text("operator", "en"), draft.field("every_s"))


def test_fields_of_admins_are_not_read() -> None:
    """Fields that a role may not set are left alone, whatever the form says."""
    draft = policy_form.read({"go_to": "https://evil.example"}, Policy(), {"go_to"})
    assert {} == draft.changes
