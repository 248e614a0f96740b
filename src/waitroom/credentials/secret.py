"""Where the keys of tickets come from: the settings, or a file that is made on first use."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from waitroom.errors import InvalidInput
from waitroom.settings import Settings
from waitroom.tickets import KeyRing

SECRET_FILE = "secret"  # noqa: S105 - the name of a file


def load_secret(settings: Settings) -> KeyRing:
    """Return the ring of keys; if the server is our own, make and store a secret."""
    return _ring(settings)[0]


def secret_text(settings: Settings) -> str:
    """Return the text of that ring, from which other keys may be made."""
    return _ring(settings)[1]


def _ring(settings: Settings) -> tuple[KeyRing, str]:
    """Return the keys of tickets, and the text that they were read from."""
    if settings.secret is not None:
        return KeyRing.from_text(settings.secret), settings.secret
    if settings.redis_url is not None:
        raise InvalidInput(
            "secret",
            "must be given together with `redis_url`, or several servers would refuse each other's "
            "tickets; set WAITROOM_SECRET to the same value on each, made by "
            "`openssl rand -base64 32`",
        )
    path = settings.data_dir / SECRET_FILE
    try:
        text = _read(path) if path.exists() else _make(path)
    except OSError as error:
        raise InvalidInput(
            "data_dir", f"the secret in {path} cannot be kept or read: {error.strerror}"
        ) from None
    try:
        return KeyRing.from_text(text), text
    except InvalidInput as error:
        why = str(error).removeprefix("secret: ")
        raise InvalidInput("secret", f"{path} holds no usable keys: {why}") from None


def _read(path: Path) -> str:
    # The group may read it: Kubernetes gives a volume's files to `fsGroup` whenever it mounts one.
    if path.stat().st_mode & 0o007:
        raise InvalidInput("secret", f"{path} is open to everybody; run `chmod 600 {path}`")
    return path.read_text("utf-8", errors="replace")


def _make(path: Path) -> str:
    """Write a new secret, unless another process is faster, and return the stored one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "w", encoding="ascii") as stream:
            stream.write(secrets.token_urlsafe(32) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        # A link appears whole or not at all and, unlike a rename, never replaces the winner's file.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return _read(path)
