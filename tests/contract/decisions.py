"""What a gate does with a request: pass on, wait, redeem or refuse."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from tests.contract.claims import RING
from tests.contract.passes import ISSUER, JWKS, NOW_S, OTHERS, ROOM, signed
from tests.contract.returns import PAGE, SITE
from waitroom.gates.decision import Decision, Join, PassOn, Redeem, Refuse, Wait, decide
from waitroom.gates.facts import Facts
from waitroom.gates.keys import Verifier
from waitroom.gates.options import Options

GOOD, LATE = signed(), signed(iat=NOW_S - 500, exp=NOW_S + 499)
NO_SESSION = signed(iat=NOW_S - 500, exp=NOW_S + 499, jti="0")
OTHER_ROOM, FORGED, OVER = signed(aud="other"), signed(OTHERS), signed(exp=NOW_S - 60)
RULES = {"/concert": ROOM, "/other": "other", "/show/*": "other"}
OPTIONS: dict[str, Any] = {
    "rules": RULES,
    "bypass_paths": ["/concert/health"],
    "finish": ["POST /concert/order", "/thanks"],
    "renew": True,
}
KEYS = {room: RING.claim_key(room) for room in (ROOM, "other")}
ANNS = signed(sub=KEYS[ROOM].account(ROOM, "ann"))
BENS = signed(sub=KEYS[ROOM].account(ROOM, "ben"))
_TEXTS = {room: key.text() for room, key in KEYS.items()}
_HTML, _JSON = {"accept": "text/html,*/*"}, {"accept": "application/json"}
_CODE = "waitroom_code=0123456789abcdef"
_PREFLIGHT = {"origin": "https://a.example", "access-control-request-method": "PUT"}


def cookie(*texts: str, name: str = f"waitroom-pass-{ROOM}") -> dict[str, str]:
    """Return a Cookie header with passes among other cookies."""
    return {"cookie": "; ".join(["a=b", *(f"{name}={text}" for text in texts), "c=d"])}


_CASES: list[tuple[str, str, dict[str, str], str]] = [
    # what a browser without a pass gets
    ("a browser", "GET /concert/seats?date=3", _HTML, "wait"),
    ("no Accept", "GET /concert", {}, "wait"),
    ("HEAD", "HEAD /concert", _HTML, "wait"),
    ("a form comes back to the rule's path", "POST /concert/order?a=1", _HTML, "wait"),
    ("a form below a wildcard comes back to the start", "POST /show/7/order", _HTML, "wait"),
    ("another method", "DELETE /concert/seat/5", _HTML, "wait"),
    ("another spelling", "GET //Concert/./seats", _HTML, "wait"),
    ("another room", "GET /other", _HTML, "wait"),
    ("OPTIONS that is no preflight", "OPTIONS /concert", _HTML, "wait"),
    # programs
    ("a program", "GET /concert", _JSON, "program"),
    ("a problem document", "GET /concert", {"accept": "application/problem+json"}, "program"),
    ("JSON and HTML", "GET /concert", {"accept": "text/html, application/json"}, "wait"),
    ("X-Requested-With", "GET /concert", {"x-requested-with": "fetch"}, "program"),
    ("Waitroom-Key", "GET /concert", {"waitroom-key": "k" * 20}, "program"),
    ("Waitroom-Ticket", "GET /concert", {"waitroom-ticket": "t" * 20}, "program"),
    ("a forged Waitroom-Pass", "GET /concert", {"waitroom-pass": FORGED}, "program"),
    # passes
    ("a pass in the cookie", "GET /concert", cookie(GOOD), "pass"),
    (
        "a pass in the cookie of https",
        "GET /concert",
        cookie(GOOD, name=f"__Host-waitroom-pass-{ROOM}"),
        "pass",
    ),
    ("a pass in quotes", "GET /concert", cookie(f'"{GOOD}"'), "pass"),
    ("a pass after a planted cookie", "GET /concert", cookie("planted", GOOD), "pass"),
    ("a pass after three planted cookies", "GET /concert", cookie("a", "b", "c", GOOD), "pass"),
    ("a pass after four planted cookies", "GET /concert", cookie("a", "b", "c", "d", GOOD), "wait"),
    (
        "a pass after four planted cookies, as a header",
        "GET /concert",
        cookie("a", "b", "c", "d") | {"waitroom-pass": GOOD},
        "pass",
    ),
    ("a pass as Waitroom-Pass", "GET /concert", {"waitroom-pass": GOOD}, "pass"),
    ("a pass as Bearer", "GET /concert", {"authorization": f"Bearer {GOOD}"}, "pass"),
    ("a pass as bearer", "GET /concert", {"authorization": f"bearer  {GOOD}"}, "pass"),
    ("a pass as Basic", "GET /concert", {"authorization": f"Basic {GOOD}"} | _HTML, "wait"),
    ("a pass with POST", "POST /concert", cookie(GOOD), "pass"),
    ("a pass in another spelling", "GET //CONCERT;x/%2e", cookie(GOOD), "pass"),
    (
        "a pass in the cookie of another room",
        "GET /concert",
        cookie(GOOD, name="waitroom-pass-other"),
        "wait",
    ),
    (
        "a cookie whose name ends so",
        "GET /concert",
        cookie(GOOD, name=f"x-waitroom-pass-{ROOM}"),
        "wait",
    ),
    ("the pass of another room", "GET /concert", cookie(OTHER_ROOM), "wait"),
    ("a forged pass", "GET /concert", cookie(FORGED), "wait"),
    ("a pass that is over", "GET /concert", cookie(OVER), "wait"),
    # renewal and end
    ("after half of the session", "GET /concert", cookie(LATE), "renew"),
    ("after half, without a session", "GET /concert", cookie(NO_SESSION), "pass"),
    ("the end of a visit", "POST /concert/order", cookie(GOOD), "finish"),
    ("the end after half of the session", "POST /concert/order", cookie(LATE), "finish"),
    ("another method than the end's", "GET /concert/order", cookie(GOOD), "pass"),
    ("an end on a free path", "GET /thanks", cookie(GOOD), "finish"),
    (
        "an end on a free path, another room",
        "GET /thanks/you",
        cookie(OTHER_ROOM, name="waitroom-pass-other"),
        "finish",
    ),
    ("an end on a free path, after half", "GET /thanks", cookie(LATE), "finish"),
    ("an end without a pass", "GET /thanks", _HTML, "free"),
    ("an end with a forged pass", "GET /thanks", cookie(FORGED), "free"),
    # what needs no pass
    ("free", "GET /free", _HTML, "free"),
    ("free with a pass", "GET /free", cookie(GOOD), "free"),
    ("a bypass", "GET /concert/health", _HTML, "free"),
    ("a bypass in another spelling", "GET /concert/Health", _HTML, "wait"),
    ("a preflight", "OPTIONS /concert", _PREFLIGHT, "free"),
    ("a preflight by GET", "GET /concert", _PREFLIGHT, "wait"),
    (
        "a preflight without an origin",
        "OPTIONS /concert",
        {"access-control-request-method": "PUT"},
        "wait",
    ),
    # codes
    ("a code", f"GET /concert?a=1&{_CODE}", _HTML, "redeem"),
    ("a code beside a pass", f"GET /concert?{_CODE}", cookie(GOOD), "redeem"),
    ("a code on a free path", f"GET /free?{_CODE}", _HTML, "free"),
    ("a code by POST", f"POST /concert?{_CODE}", _HTML, "wait"),
    ("a code that cannot be one", "GET /concert?waitroom_code=a", _HTML, "wait"),
    # what is refused
    ("a control character", "GET /concert%00", cookie(GOOD), "refuse"),
    ("two rooms", "GET /concert/../other", cookie(GOOD), "refuse"),
]


_SIGNED_IN: list[tuple[str, str, dict[str, str], str]] = [
    ("a browser", "GET /concert/seats?date=3", _HTML, "wait"),
    ("a form", "POST /concert/order", _HTML, "wait"),
    ("another room, another account", "GET /other", _HTML, "wait"),
    ("a program", "GET /concert", _JSON, "program"),
    ("the account's pass", "GET /concert", cookie(ANNS), "pass"),
    ("the account's pass as a header", "GET /concert", {"waitroom-pass": ANNS}, "pass"),
    ("another account's pass", "GET /concert", cookie(BENS), "wait"),
    ("another account's pass as a header", "GET /concert", {"waitroom-pass": BENS}, "program"),
    ("a stranger's pass", "GET /concert", cookie(GOOD), "wait"),
    ("another's pass before the account's", "GET /concert", cookie(BENS, ANNS), "pass"),
    ("a pass without a session", "GET /concert", cookie(NO_SESSION), "pass"),
    ("an end with another's pass", "GET /thanks", cookie(BENS), "free"),
    ("an end with the account's pass", "GET /thanks", cookie(ANNS), "finish"),
    ("free", "GET /free", _HTML, "free"),
    ("a code", f"GET /concert?{_CODE}", _HTML, "redeem"),
]
"""The same of somebody who has signed in as ann."""


def document() -> dict[str, Any]:
    """Return the file; decisions are written by hand, the addresses come from the gate."""
    return {
        "about": "What a gate does with a request at `now_s`. A `program` is told to wait by 429. "
        "Gates that cannot renew or finish take `renew` and `finish` for a plain `pass`. "
        "With `user`, the gate knows who has signed in ('' = nobody), and has `claim_keys`.",
        "now_s": NOW_S,
        "jwks": JWKS,
        "site": SITE,
        "public_url": PAGE,
        "options": OPTIONS,
        "claim_keys": _TEXTS,
        "cases": [_case(*case, options=OPTIONS) for case in _CASES]
        + [
            _case(
                "renewal is off",
                "GET /concert",
                cookie(LATE),
                "pass",
                options=OPTIONS | {"renew": False},
            )
        ]
        + [
            _case(f"signed in: {case[0]}", *case[1:], options=OPTIONS, user="ann")
            for case in _SIGNED_IN
        ]
        + [
            _case(
                "not signed in: anybody's pass",
                "GET /concert",
                cookie(BENS),
                "pass",
                options=OPTIONS,
                user="",
            )
        ],
    }


def _case(
    name: str,
    line: str,
    headers: dict[str, str],
    expected: str,
    options: dict[str, Any],
    user: str | None = None,
) -> dict[str, Any]:
    """Judge a request; `user` is None for a gate without identity, "" for nobody."""
    method, _, target = line.partition(" ")
    path, _, query = target.partition("?")
    request = {"method": method, "path": path, "query": query, "headers": headers}
    given = headers | {"host": SITE.partition("://")[2]}
    facts = Facts(method, unquote(path), query, "https", "192.0.2.1", given.get)
    facts.user = user or None
    knows: dict[str, Any] = {} if user is None else {"identity": len, "claim_key": _TEXTS}
    verifier = Verifier(None)
    verifier.load(JWKS)
    hosted = Options(
        "http://10.0.0.7:8080", public_url=PAGE, hosts=[SITE], issuer=ISSUER, **options, **knows
    )
    answer = _answer(decide(hosted, facts, verifier.read, NOW_S))
    assert expected == answer["do"], (name, answer)
    more: dict[str, Any] = {} if options is OPTIONS else {"options": options}
    if user is not None:
        more["user"] = user
    return {"name": name, **more, "request": request, "expect": answer}


def _answer(decision: Decision) -> dict[str, Any]:
    match decision:
        case PassOn(good_pass, renew, finish):
            word = "finish" if finish and good_pass else "renew" if renew else "pass"
            return {"do": word, "room": good_pass.room} if good_pass else {"do": "free"}
        case Wait(room, url, account) | Join(room, url, _, _, account):
            word = "wait" if isinstance(decision, Wait) else "program"
            told = {"do": word, "room": room, "url": url}
            return told if account is None else told | {"account": account}
        case Redeem(code, clean_url):
            return {"do": "redeem", "code": code, "clean": clean_url}
        case Refuse(status):
            return {"do": "refuse", "status": status}
