"""Keys of passes: given as PEM, kept in a folder that can be rotated, or made from the secret.

In a folder (`pass_keys` names one, or `pass-keys` in the data folder) the newest key signs and all
verify. A new key waits a few seconds before it signs, so that every server and gate knows it by
then; an old key may be removed when the last pass that it signed is over.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from waitroom.credentials.secret import secret_text
from waitroom.errors import InvalidInput
from waitroom.settings import Settings

if TYPE_CHECKING:
    from waitroom.passes import PassKeys

FOLDER = "pass-keys"
SIGNS_AFTER_S = 5.0
"""How long a key is known before it signs; servers look for new keys far more often."""

Fingerprint = tuple[tuple[str, int, bool], ...]


def folder_of(settings: Settings) -> Path | None:
    """Return the folder of keys; None if keys are given as files or as text."""
    if settings.pass_keys is None:
        return settings.data_dir / FOLDER
    given = Path(settings.pass_keys)
    return given if "-----BEGIN" not in settings.pass_keys and given.is_dir() else None


def load_pass_keys(settings: Settings) -> PassKeys:
    """Return the keys of passes, the one that signs first."""
    # Imported when needed: the command line works without the packages that passes need.
    from waitroom.passes import PassKeys

    folder = folder_of(settings)
    if folder is None:
        return PassKeys.from_pem(_pems(settings.pass_keys or ""))
    pems = [path.read_bytes() for path in in_order(_files(folder))]
    if settings.pass_keys is not None:
        return PassKeys.from_pem(pems)
    derived = PassKeys.derive(secret_text(settings), settings.pass_algorithm)
    # Passes that the secret's own key signed before the first rotation are still valid.
    return PassKeys.from_pem(pems).and_then(derived) if pems else derived


def fingerprint(settings: Settings) -> Fingerprint:
    """Return a value that changes whenever keys should be loaded again."""
    folder = folder_of(settings)
    if folder is None:
        return ()
    now_s = time.time()
    return tuple(
        (path.name, path.stat().st_mtime_ns, now_s - path.stat().st_mtime >= SIGNS_AFTER_S)
        for path in _files(folder)
    )


def in_order(paths: Sequence[Path]) -> list[Path]:
    """Return key files with the one that signs first: the newest that everybody knows by now."""
    newest_first = sorted(paths, key=lambda path: path.name, reverse=True)
    now_s = time.time()
    ripe = [path for path in newest_first if now_s - path.stat().st_mtime >= SIGNS_AFTER_S]
    signs = ripe[:1] or newest_first[-1:]
    return [*signs, *(path for path in newest_first if path not in signs)]


def rotate(folder: Path, algorithm: str) -> Path:
    """Add a new key to a folder and return its file."""
    from waitroom.passes import generate_pem

    pem = generate_pem(algorithm)
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}Z-{secrets.token_hex(3)}.pem"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f".{name}"
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(pem)
        # All or nothing: a server may read the folder at this moment.
        return draft.rename(folder / name)
    except OSError as error:
        raise InvalidInput(
            "pass_keys",
            f"{folder} cannot be written: {error.strerror}; on Kubernetes, put the "
            "new key into the Secret instead",
        ) from None


def prune(folder: Path, older_than_s: float) -> list[Path]:
    """Remove keys that stopped signing this long ago; return their files."""
    files = _files(folder)
    signs = in_order(files)[:1]
    now_s = time.time()
    gone = []
    for newer, path in pairwise(sorted(files, key=lambda path: path.name, reverse=True)):
        # It signed until the next newer key took over.
        if path not in signs and now_s - newer.stat().st_mtime >= older_than_s + SIGNS_AFTER_S:
            gone.append(path)
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.glob("*.pem") if not path.name.startswith(".")]
    except OSError:
        return []


def _pems(text: str) -> list[bytes]:
    """Return the PEM texts of a setting that contains them, or names their files."""
    if "-----BEGIN" in text:
        # A one-line variable has to spell out its line ends.
        return [text.replace("\\n", "\n").encode(errors="surrogateescape")]
    paths = [Path(part.strip()) for part in text.split(",") if part.strip()]
    try:
        return [path.read_bytes() for path in paths]
    except OSError as error:
        raise InvalidInput(
            "pass_keys", f"{error.filename} cannot be read: {error.strerror}"
        ) from None
