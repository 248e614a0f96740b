"""Asks a service whether a widget's token is good: Turnstile, hCaptcha, reCAPTCHA and their kind.

All of them take the secret and the token as a form and answer `{"success": …, "hostname": …}`. A
token is sent with an `idempotency_key` of room and token, so a repeated question gets the first
answer where the service knows such keys, and the question of another room does not. Nothing about
the visitor is sent.

Anybody can send tokens, so none may speak for the service: an address gets a share of the
questions, a token that the service cannot read is a bad token, and the service counts as away only
after failures of several networks in a row.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from waitroom.errors import InvalidInput
from waitroom.server.http.rate_limits import Buckets
from waitroom.settings import Settings
from waitroom.web.addresses import Source
from waitroom.web.origins import listed_origins

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger("waitroom.siteverify")

KIND = "siteverify"
ACTION = "join"
"""What the widget is asked to vouch for; a token that it gave for something else is refused."""

ANSWER_S = 3.0
"""How long the service may take, everything included; a visitor waits for it."""

FAILURES = 3
"""The service is away after so many failures in a row, each of another wider network."""

IN_A_ROW = 20
"""Or after so many of any: where all visitors come from one network, nobody else could tell."""

REST_S = 5.0
"""Then nobody is kept waiting for it for this long."""

AT_ONCE = 256
"""Questions under way per process; more count as unanswered."""

SHARES = 64, 128
"""Of these, the questions of one address, and of the network around it."""

AROUND = 16
"""The network around an address may ask so many times as often as the address."""

LONGEST_TOKEN, LONGEST_OF_TURNSTILE = 4_096, 2_048
"""Only Turnstile says how long its tokens get; those of hCaptcha may be longer than that."""


class Unreachable(Exception):
    """The service cannot be asked, or gave no verdict; the text says why."""


class Verdict(NamedTuple):
    """What the service says of a token."""

    good: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Service:
    """The settings of a service, checked."""

    url: str
    secret: str
    site_key: str
    script: str
    origins: tuple[str, ...]
    """Where its script, frames and calls come from; the page of such a room allows these."""

    hostnames: frozenset[str]
    names_action: bool
    """Whether an answer without `action` is no good: it may be for anything on the site."""

    longest_token: int

    @classmethod
    def of_settings(cls, settings: Settings) -> Service | None:
        """Return the service that the settings name, if they do."""
        given = {name: getattr(settings, f"siteverify_{name}") for name in _NEEDED}
        if not any(given.values()):
            return None
        if find_spec("httpx2") is None:
            wanted = "needs the package httpx2: pip install 'waitroom[siteverify]'"
            raise InvalidInput("siteverify_url", wanted)
        for name, value in given.items():
            if value is None:
                raise InvalidInput(f"siteverify_{name}", "must be set with the other siteverify_…")
        for name in ("url", "script"):
            parts = urlsplit(given[name])
            local = parts.scheme == "http" and parts.hostname in _LOCAL
            if not parts.netloc or not (parts.scheme == "https" or local):
                raise InvalidInput(f"siteverify_{name}", "must be an https:// address")
        script = urlsplit(given["script"])
        more = (settings.siteverify_origins or "").replace(",", " ").split()
        origins = listed_origins(
            [f"{script.scheme}://{script.netloc}", *more], "siteverify_origins"
        )
        host = urlsplit(settings.public_url or "").hostname
        hosts = (settings.siteverify_hostnames or host or "").replace(",", " ").lower().split()
        if not hosts:
            wanted = "is needed, or public_url: else a token from any other site would be good here"
            raise InvalidInput("siteverify_hostnames", wanted)
        asked = f".{urlsplit(given['url']).hostname}"
        return cls(
            **given,
            origins=tuple(dict.fromkeys(origins)),
            hostnames=frozenset(hosts),
            names_action=settings.siteverify_actions and not asked.endswith(_WITHOUT_ACTIONS),
            longest_token=LONGEST_OF_TURNSTILE if asked == _TURNSTILE else LONGEST_TOKEN,
        )

    def challenge(self) -> dict[str, Any]:
        """Return what a page needs to show the widget."""
        return {"kind": KIND, "site_key": self.site_key, "script": self.script, "action": ACTION}


_NEEDED = ("url", "secret", "site_key", "script")
_LOCAL = ("127.0.0.1", "localhost", "::1")
_TURNSTILE = ".challenges.cloudflare.com"
_WITHOUT_ACTIONS = (".hcaptcha.com", ".google.com", ".recaptcha.net")  # reCAPTCHA version 2


class Siteverify:
    """Asks the service; close it at the end."""

    def __init__(
        self, service: Service, per_minute: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.service = service
        self._clock = clock
        self._shares = SHARES if per_minute else (AT_ONCE, AT_ONCE)
        self._buckets = tuple(
            Buckets(limit, clock=clock) for limit in (per_minute, AROUND * per_minute)
        )
        self._under_way: Counter[tuple[int, str]] = Counter()
        self._failed: set[str] = set()
        self._in_a_row = 0
        self._rest_until = -1.0
        self._http: httpx2.AsyncClient | None = None

    async def aclose(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.aclose()

    def wait_s(self, source: Source) -> float:
        """Take one of the questions that an address may ask; return 0, or when there is one."""
        for at, share in zip(enumerate(source), self._shares, strict=True):
            if self._under_way[at] >= share:
                return 1.0
        own, around = self._buckets
        return own.take(source.network) or around.take(source.wider)

    async def ask(self, token: str, source: Source, room: str, key: str = "") -> Verdict:
        """Return the verdict on a token; `Unreachable` if there is none.

        It is good for one room and, where solvers are known by one, one key.
        """
        if len(token) > self.service.longest_token:
            return Verdict(False, "the token is too long")
        if self._clock() < self._rest_until:
            raise Unreachable("the service failed a moment ago")
        if self._under_way.total() >= AT_ONCE * len(source):
            raise Unreachable("too many questions are under way")
        asking = Counter(enumerate(source))
        self._under_way += asking
        try:
            async with asyncio.timeout(ANSWER_S):
                verdict = self._judge(await self._post(token, f"{room}\0{token}\0{key}"))
        except (Unreachable, TimeoutError) as error:
            why = str(error) or f"no answer within {ANSWER_S:g} s"
            self._fail(source, why)
            raise Unreachable(why) from None
        finally:
            self._under_way -= asking
        self._failed.clear()
        self._in_a_row = 0
        return verdict

    def _fail(self, source: Source, why: str) -> None:
        log.warning("siteverify gave no verdict: %s", why)
        self._in_a_row += 1
        if len(self._failed) < FAILURES:
            self._failed.add(source.wider)
        if len(self._failed) >= FAILURES or self._in_a_row >= IN_A_ROW:  # after a rest, at once
            self._rest_until = self._clock() + REST_S

    async def _post(self, token: str, question: str) -> dict[str, Any]:
        import httpx2

        if self._http is None:
            # Its log would show every call; proxies of the environment and redirects are not used.
            logging.getLogger("httpx2").setLevel(logging.WARNING)
            self._http = httpx2.AsyncClient(
                timeout=ANSWER_S,
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=20),
            )
        form = {
            "secret": self.service.secret,
            "response": token,
            "idempotency_key": str(uuid.uuid5(uuid.NAMESPACE_URL, question)),
        }
        try:
            answer = await self._http.post(self.service.url, data=form)
            document = answer.json()
        except httpx2.HTTPError as error:
            raise Unreachable(f"no answer ({type(error).__name__})") from None
        except ValueError:
            document = None
        known: dict[str, Any] = document if isinstance(document, dict) else {}
        if answer.status_code in _UNREADABLE:
            return known | {"success": False}
        if not answer.is_success or not known:
            raise Unreachable(f"the answer was {answer.status_code}")
        return known

    def _judge(self, document: dict[str, Any]) -> Verdict:
        if document.get("success") is not True:
            codes = document.get("error-codes")
            known = {str(code) for code in codes} if isinstance(codes, list) else set()
            if known & _OURS:  # our settings or the service are at fault, not the visitor
                raise Unreachable(f"it says {', '.join(sorted(known & _OURS))}")
            return Verdict(False, "the service did not accept the token")
        if str(document.get("hostname", "")).lower() not in self.service.hostnames:
            return Verdict(False, "the token was made for another site")
        missing = "" if self.service.names_action else ACTION
        if (document.get("action") or missing) != ACTION:
            return Verdict(False, "the token was made for another action")
        return Verdict(True)


_OURS = {"missing-input-secret", "invalid-input-secret", "internal-error"}
_UNREADABLE = {400, 413, 422}  # the secret and the key are always written alike, the token is not
