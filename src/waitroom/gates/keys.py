"""Which passes are good: the public keys, and a bounded cache of verified passes.

Keys and issuer come from Waitroom's JWKS, or are given, keys in PEM. A pass is verified once and
then remembered until it ends, its key is removed, or its session is finished here. Nothing here
raises for what a visitor sends, and nothing waits: the gate does the fetching.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from json import loads
from typing import TYPE_CHECKING, Any

from waitroom.errors import InvalidInput, InvalidPass
from waitroom.gates.decision import GoodPass

if TYPE_CHECKING:
    from waitroom.passes import PassKeys

_MOST_REMEMBERED = 50_000
_MOST_KEYS = 100


class Verifier:
    """Reads passes. `unknown` is set when a pass was signed with an unknown key.

    `generation` is another object after every change that may make a good pass bad before its end.
    Requests and the thread that fetches keys share all this, so a change comes first, then what was
    remembered before goes, and the generation ends last.
    """

    def __init__(self, pem: str | bytes | None, issuer: str | None = None) -> None:
        # These imports take longer than the rest of a gate, so they run when the app starts.
        from waitroom.passes import LEEWAY_S, TYPE, PassKeys

        self._type, self._leeway_s = TYPE, LEEWAY_S
        self._keys: PassKeys | None = None
        self._kids: frozenset[str] = frozenset()
        self._issuer, self._issuer_given = issuer, issuer is not None
        self.fixed = pem is not None
        self.unknown = False
        self.generation = object()
        self._seen: dict[str, GoodPass] = {}
        self._ended: dict[tuple[str, int], float] = {}
        if pem is not None:
            self._take(PassKeys.from_pem([pem.encode() if isinstance(pem, str) else pem]))

    @property
    def ready(self) -> bool:
        """Whether there is any key."""
        return self._keys is not None

    @property
    def has_seen(self) -> bool:
        """Whether any good pass was shown here."""
        return bool(self._seen)

    def load(self, document: dict[str, Any]) -> bool:
        """Take the keys of a JWKS document; one without a usable key changes nothing."""
        from waitroom.passes import PassKeys

        keys = document.get("keys")
        listed = keys[:_MOST_KEYS] if isinstance(keys, list) else []
        made = [_public(jwk) for jwk in listed if isinstance(jwk, dict)]
        try:
            self._take(PassKeys([key for key in made if key is not None]))
        except InvalidInput:
            return False
        self._follow_issuer(document.get("issuer"))
        return True

    def _follow_issuer(self, issuer: object) -> None:
        """Take over who lets in, unless that was given; an older Waitroom does not tell."""
        if self._issuer_given or not isinstance(issuer, str) or issuer == self._issuer:
            return
        self._issuer = issuer
        self._seen = {}
        self.generation = object()

    def read(self, room: str, text: str, now_s: float) -> GoodPass | None:
        """Return the pass of a text, if it is good for a room now."""
        good_pass = self._seen.get(text)
        if good_pass is None:
            good_pass = self._verify(text, now_s)
            if good_pass is None:
                return None
        if good_pass.room != room or now_s >= good_pass.expires_s + self._leeway_s:
            return None
        if self._ended and (room, good_pass.sid) in self._ended:
            return None
        return good_pass

    def end(self, good_pass: GoodPass) -> None:
        """Refuse the passes of a session from now on."""
        if len(self._ended) >= _MOST_REMEMBERED:
            self._ended = dict(list(self._ended.items())[_MOST_REMEMBERED // 2 :])
        self._ended[good_pass.room, good_pass.sid] = good_pass.expires_s
        self._seen.pop(good_pass.text, None)
        self.generation = object()

    def live(self, room: str, now_s: float) -> list[str]:
        """Return the newest pass of each session of a room that this gate has seen."""
        newest: dict[int, GoodPass] = {}
        for good_pass in list(self._seen.values()):
            if good_pass.room == room and good_pass.sid and good_pass.expires_s > now_s:
                old = newest.get(good_pass.sid)
                if old is None or old.expires_s < good_pass.expires_s:
                    newest[good_pass.sid] = good_pass
        return [
            good_pass.text for sid, good_pass in newest.items() if (room, sid) not in self._ended
        ]

    def _take(self, keys: PassKeys) -> None:
        kids = frozenset(key["kid"] for key in keys.jwks()["keys"])
        if kids == self._kids:
            return
        self._keys, self._kids = keys, kids
        self._seen = {
            text: good_pass for text, good_pass in list(self._seen.items()) if good_pass.kid in kids
        }
        self.generation = object()

    def _verify(self, text: str, now_s: float) -> GoodPass | None:
        kid, keys, issuer = self._kid(text), self._keys, self._issuer
        if kid is None or keys is None:
            self.unknown = self.unknown or kid is not None
            return None
        if kid not in self._kids:
            self.unknown = True
            return None
        try:
            good = keys.verify(text, now_s=now_s, issuer=issuer)
        except InvalidPass:
            return None
        half_s = (_object(text.split(".")[1])["iat"] + good.expires_s) / 2
        good_pass = GoodPass(good.room, good.ticket_id, good.sid, good.expires_s, kid, text, half_s)
        self._remember(good_pass, now_s)
        if keys is not self._keys or issuer != self._issuer:  # changed while we looked
            self._seen.pop(text, None)
            return self._verify(text, now_s)
        return good_pass

    def _remember(self, good_pass: GoodPass, now_s: float) -> None:
        if len(self._seen) >= _MOST_REMEMBERED:
            kept = [old for old in list(self._seen.values()) if old.expires_s > now_s]
            self._seen = {old.text: old for old in kept[-_MOST_REMEMBERED // 2 :]}
        self._seen[good_pass.text] = good_pass

    def _kid(self, text: str) -> str | None:
        """Return the key id in a text that looks like a pass; a site's own JWT does not."""
        if len(text) > 2_048 or text.count(".") != 2 or not text.isascii():
            return None
        head = _object(text.partition(".")[0])
        kid = head.get("kid")
        return kid if head.get("typ") == self._type and isinstance(kid, str) else None


def _object(part: str) -> dict[str, Any]:
    try:
        document = loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _public(jwk: dict[str, Any]) -> Any:
    """Return the public key of a JWK; None for a kind that never signs passes."""
    from jwt.algorithms import get_default_algorithms
    from jwt.exceptions import PyJWTError

    from waitroom.passes import ALGORITHMS

    method: Any = get_default_algorithms().get(str(jwk.get("alg")))
    if jwk.get("alg") not in ALGORITHMS or method is None or "d" in jwk:
        return None
    try:
        return method.from_jwk(jwk)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
