"""Before anything serves: refuse settings that cannot work, and make what workers need."""

from __future__ import annotations

import dataclasses
import logging
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from waitroom.credentials.named_users import NamedUsers
from waitroom.credentials.pass_keys import load_pass_keys
from waitroom.credentials.secret import load_secret
from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.operations.declared import apply_declared
from waitroom.operations.trail import CONFIG, Trail
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.process import listening
from waitroom.settings import Settings, declared_rooms
from waitroom.web.origins import Origins, listed_origins

log = logging.getLogger("waitroom.serve")


def check(settings: Settings) -> None:
    """Refuse settings that cannot work before anything is started."""
    load_secret(settings)
    load_pass_keys(settings)
    TrustedProxies(settings.proxies)
    NamedUsers.of_settings(settings)
    Origins.of_settings(settings.public_url, settings.origins)
    listed_origins((settings.cors_origins or "").replace(",", " ").split(), "cors_origins")
    if settings.desk:
        # Not imported above, here and below: the parent serves nobody, and starts in half the time
        # without the framework.
        from waitroom.server.lifecycle import check_desk

        check_desk()
    if settings.push is not None:
        from waitroom.server.lifecycle import load_push

        load_push().load_key(settings)
    if settings.locales is not None:
        from waitroom.server.pages.locales import load_locales

        load_locales(settings.locales)
    public = urlsplit(settings.public_url or "http://unset")
    if public.scheme not in ("http", "https") or not public.netloc:
        raise InvalidInput("public_url", "must be like https://wait.example")
    _check_tls(settings.tls_cert, settings.tls_key)


def _check_tls(cert: Path | None, key: Path | None) -> None:
    if cert is None and key is None:
        return
    if cert is None or key is None:
        missing = "tls_key" if key is None else "tls_cert"
        raise InvalidInput(missing, "must be given together with the other one")
    for name, path in (("tls_cert", cert), ("tls_key", key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise InvalidInput(name, f"{path} cannot be read: {error.strerror}") from None
    try:
        # An empty password, otherwise OpenSSL would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise InvalidInput(
            "tls_cert", f"{cert} and {key} are not a certificate with its key, in PEM ({why})"
        ) from None


async def prepare(settings: Settings) -> None:
    """Check the backend and the desk's database, and make the rooms that the file declares."""
    rooms = {} if settings.config is None else declared_rooms(settings.config)
    if settings.desk:
        await _prepare_desk(settings)
    ring = load_secret(settings)
    engine = await Engine.connect(
        settings.redis_url,
        settings.data_dir,
        ring,
        timeout_s=settings.timeout_s,
        admin_key=settings.admin_key,
        audit_days=settings.audit_days,
    )
    async with engine:
        trail = Trail(engine.audit, CONFIG)
        for name, changes in (await apply_declared(engine, trail, rooms)).items():
            log.info("room %s is now as the file declares it", name, extra={"changes": changes})


async def _prepare_desk(settings: Settings) -> None:
    """Bring the desk's database up to date once, before any worker needs it."""
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it prints a greeting when imported
    from waitroom.desk.record.database import open_database

    async with open_database(settings.desk_database, settings.data_dir):
        pass


def with_files(settings: Settings) -> Settings:
    """Return the settings with as many connections as the limit of open files allows."""
    most = listening.allow_files(settings.connections)
    if most >= settings.connections:
        return settings
    why = "the limit of open files (`ulimit -n`) allows %d connections per worker, not %d"
    log.warning(why, most, settings.connections)
    return dataclasses.replace(settings, connections=most)
