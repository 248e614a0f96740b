"""The waiting page as HTML, and what its script begins with. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from waitroom.estimate.reasons import Reason as EtaReason
from waitroom.server.http import statics
from waitroom.server.pages import templates
from waitroom.server.pages.languages import DEFAULT
from waitroom.server.pages.text import Words
from waitroom.server.tickets.entry.challenges import ASK_ME
from waitroom.server.waiting.view import PageView
from waitroom.server.waiting.words import words_of

_SCRIPT = "waiting/page.js"
_PROOFS = {"work": {"solution": ASK_ME}, "siteverify": {"token": ASK_ME}}
_LINK_WORDS = ("days", "link_ago", "link_lost", "link_now")
_INSIDE_WORDS = (*_LINK_WORDS, "inside_ends")
_SAYS = re.compile(r'"([a-z]+(?:_[a-z]+)*)"')


def render(view: PageView) -> str:
    """Return the page as HTML."""
    html = templates.render(
        "waiting/page.html",
        v=view,
        t=view.text,
        css=statics.url_of("waiting/page.css"),
        js=statics.url_of(_SCRIPT),
        client=statics.imported_by(_SCRIPT),
        state=script_state(view),
    )
    return html.replace(">\n<", "><")  # the blank lines of the template have a size too


def script_state(view: PageView) -> dict[str, Any]:
    """Return the script's first state; without ticket and pass, which stay in cookies."""
    target = view.onward
    state = {
        "room": view.room,
        "title": view.theme.title,
        "lang": view.text.lang,
        "face": view.face,
        "holds": view.holds,
        "now_ms": view.now_ms,
        "start": view.start,
        "least": view.position,
        "presence_s": view.policy.presence_s if view.policy else None,
        "return_s": view.policy.return_s if view.policy else None,
        "go_to": target and target.url,
        "hand_off": (target and target.hand_off) or None,
        "browser": view.browser,
        "note": view.refusal,
        "push": view.push,
        "proof": _PROOFS.get(view.asks),
        "ticket": _known(view.ticket),
        "view": _known(view.view),
        "text": _script_words(view),
    }
    return {name: value for name, value in state.items() if value not in (None, False, "")}


def _known(fields: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return fields and {name: value for name, value in fields.items() if value is not None}


def _script_words(view: PageView) -> Words:
    """Return the texts that the script can show from here on; otherwise it reloads the page."""
    keys: Iterable[str] = _INSIDE_WORDS
    if view.lives:
        unsaid = {*_INSIDE_WORDS} - {*_LINK_WORDS}
        unsaid.add("kept" if view.policy and view.policy.return_s else "kept_until")
        keys = (key for key in script_keys() if key not in unsaid)
        if not view.may_open:
            keys = (key for key in keys if not key.startswith("soon_"))
    return {key: view.text.words[key] for key in keys}


@cache
def script_keys() -> tuple[str, ...]:
    """Return the keys of the texts that the script uses: every string in it that is a key.

    Except for "ready", which it only knows as a part of the page. The reasons of an estimate are
    named by the server.
    """
    source = (statics.FOLDER / _SCRIPT).read_text("utf-8")
    words = words_of(DEFAULT).words
    keys = {key for key in _SAYS.findall(source) if key in words} - {"ready"}
    return tuple(sorted(keys | {f"why_{reason}" for reason in EtaReason}))
