"""Secrets from files: `WAITROOM_SECRET_FILE` in place of `WAITROOM_SECRET`.

Docker, Kubernetes and systemd hand secrets over as files. A file shows in no list of processes and
no `docker inspect`, and is not inherited by whatever a process starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from waitroom.errors import InvalidInput

SUFFIX = "_FILE"
MOST_BYTES = 65_536
"""No ring of keys is that long: this is another file than was meant."""


def text_of(env: Mapping[str, str], variable: str, field: str) -> tuple[str, str] | None:
    """Return what a variable says, itself or by its file, and which of the two was given.

    Empty ones count as not given. Errors name `field` and never hold anything of the secret.
    """
    by_file = variable + SUFFIX
    text, path = env.get(variable, ""), env.get(by_file, "")
    if text and path:
        raise InvalidInput(field, f"{variable} and {by_file} are both given; leave one of them out")
    if path:
        return _content(Path(path), by_file, field), by_file
    return (text, variable) if text else None


def _content(path: Path, variable: str, field: str) -> str:
    """Return a file without the blanks around it: editors and `echo` end it with a new line."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    else:
        if len(content) > MOST_BYTES:
            reason = f"is longer than {MOST_BYTES} bytes"
        else:
            try:
                text = content.decode().strip()
            except UnicodeDecodeError:
                reason = "is not UTF-8"
            else:
                if text:
                    return text
                reason = "is empty"
    raise InvalidInput(field, f"{path} {reason} (from {variable})")
