"""The page of tables at a glance, generated from the tables in the code; nothing is by hand."""

import dataclasses
from collections.abc import Iterable

from waitroom import errors
from waitroom.models import Policy
from waitroom.server.http import problems
from waitroom.server.metrics.families import METRICS
from waitroom.settings import SETTINGS

_WIDEST = 40
HEAD = """# Tables at a glance

Made from the code when this site is built: every setting, every field of a policy, every error and
every metric, in one line each. The names lead to the pages that explain them.
"""


def page() -> str:
    """Return the whole page as Markdown."""
    return "\n".join((HEAD, *settings(), "", *policy(), "", *problem_codes(), "", *metrics(), ""))


def settings() -> Iterable[str]:
    """Return the table of settings."""
    yield "## Settings\n\nIn the environment, `secret` is `WAITROOM_SECRET`, and so on.\n"
    yield "| setting | default | meaning |\n|---|---|---|"
    for one in SETTINGS:
        link = f"[`{one.name}`](/settings.md#{one.name})"
        yield f"| {link} | {_code(one.default)} | {_cell(one.about)} |"


def policy() -> Iterable[str]:
    """Return the table of a policy's fields."""
    yield "## Policy of a room\n\n| field | unit | default | meaning |\n|---|---|---|---|"
    for one in dataclasses.fields(Policy):
        about, unit = one.metadata["about"], one.metadata["unit"]
        link = f"[`{one.name}`](/policy.md#{one.name})"
        yield f"| {link} | {unit} | {_code(one.default)} | {_cell(about)} |"


def problem_codes() -> Iterable[str]:
    """Return the table of errors with their HTTP status."""
    yield "## Errors\n\n| code | status | meaning |\n|---|---|---|"
    for kind in _tree(errors.WaitroomError):
        about = (kind.__doc__ or "").partition("\n\n")[0]
        status = next(problems.STATUS[base] for base in kind.__mro__ if base in problems.STATUS)
        yield f"| [`{kind.code}`](/errors.md#{kind.code}) | {status} | {_cell(about)} |"


def metrics() -> Iterable[str]:
    """Return the table of metrics."""
    yield "## Metrics\n\n| metric | kind | labels | meaning |\n|---|---|---|---|"
    for one in METRICS:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        link = f"[`{one.shown}`](/metrics.md#{one.shown})"
        yield f"| {link} | {one.kind} | {labels} | {_cell(one.about)} |"


def _tree(kind: type[errors.WaitroomError]) -> Iterable[type[errors.WaitroomError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)


def _code(value: object) -> str:
    if value is None or value == "":
        return ""
    return f"`{value}`" if len(str(value)) < _WIDEST else "a list"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
