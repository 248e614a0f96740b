"""Where people come back to: always the site itself, whatever a path or a query says."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from waitroom.gates.decision import Redeem, decide
from waitroom.gates.facts import Facts
from waitroom.gates.options import Options
from waitroom.gates.returns import return_to, waiting_page
from waitroom.web.return_urls import LONGEST_RETURN, on_site

SITE, PAGE, ROOM = "https://shop.example", "https://wait.example", "concert"
_CODE = "0123456789abcdefABCDEF._~-"
_TARGETS = [
    ("/concert", ""),
    ("/concert/seats", "date=3"),
    ("/concert/seats", "a=1&b=2&a=3"),
    ("/concert/", "q=%EC%95%84&x=a+b"),
    ("/concert/%EC%95%84", ""),
    ("/concert/\uc544", "\uc544"),
    ("/concert/a b", "a b"),
    ("/concert/%20", "%20"),
    ("/concert/a%2fb", ""),
    ("/concert/100%", ""),
    ("//evil.example/concert", ""),
    ("///evil.example", ""),
    ("/\\evil.example/concert", ""),
    ("\\\\evil.example", ""),
    ("/%2f%2fevil.example", ""),
    ("/%5cevil.example", ""),
    ("https://evil.example/concert", ""),
    ("@evil.example/concert", ""),
    ("/concert/@evil.example", ""),
    ("/concert/https://evil.example", ""),
    ("/.//evil.example", ""),
    ("/x/..//evil.example", ""),
    ("/concert", "next=//evil.example/&return=https://evil.example"),
    ("/concert", "?//evil.example"),
    ("/concert/%0d%0aset-cookie:a=b", ""),
    ("/concert", "x=%0d%0alocation:%20https://evil.example"),
    ("/concert\r\nlocation: https://evil.example", ""),
    ("/concert", "a=1#b\r\nset-cookie: a=b"),
    ("/concert/<script>", '"><script>'),
    ("/concert/`^{|}[]", "`^{|}[]\\"),
    ("/concert;a=1", "a;b"),
    ("/concert/!$&'()*+,=:~-._", "!$&'()*+,=:@~/?"),
    ("/concert/?#", ""),
    ("/concert", "&&a=1&&"),
    ("/concert", f"waitroom_code={_CODE}"),
    ("/concert", f"a=1&waitroom_code={_CODE}&b=2"),
    ("/concert", f"WAITROOM_CODE={_CODE}&a=1"),
    ("/concert", f"%77aitroom_code={_CODE}&a=1"),
    ("/concert", f"waitroom_code+={_CODE}&a=1"),
    ("/concert", "waitroom_code&a=1"),
    ("/concert", f"xwaitroom_code={_CODE}"),
    ("/concert", f"waitroom_code%zz={_CODE}"),
    ("/concert", "q=" + "x" * LONGEST_RETURN),
    ("/concert/" + "x" * LONGEST_RETURN, "a=1"),
    ("/concert/" + "\uc544" * 200, "a=1"),
    ("", ""),
]
_QUERIES = [
    f"waitroom_code={_CODE}",
    f"a=1&waitroom_code={_CODE}&b=2",
    "waitroom_code=",
    "waitroom_code",
    "waitroom_code=short",
    "waitroom_code=" + "a" * 128,
    "waitroom_code=" + "a" * 129,
    "waitroom_code=0123456789abcdef%0d",
    f"waitroom_code={_CODE}&waitroom_code=" + "b" * 20,
    "waitroom_code=short&waitroom_code=" + "b" * 20,
    f"Waitroom_Code={_CODE}",
    f"code={_CODE}",
    f"%77aitroom_code={_CODE}",
    "a=waitroom_code",
    "waitroom_code=0123456789abcdef/x",
]


def document() -> dict[str, Any]:
    """Return the file."""
    return {
        "about": "The address to come back to, of a raw path and query, and the waiting page. "
        "`decoded`: the address of a gate that only gets a path without its escapes.",
        "site": SITE,
        "public_url": PAGE,
        "room": ROOM,
        "longest": LONGEST_RETURN,
        "cases": [_case(path, query) for path, query in _TARGETS],
        "codes": [_code(query) for query in _QUERIES],
    }


def raw_return(path: str, query: str) -> str:
    """Return the address for a raw path, by the rule of `return_to`."""
    tries = ((path, query), (path, ""), ("/", ""))
    urls = (SITE + on_site(*parts, decoded=False) for parts in tries)
    return next(url for url in urls if len(url) <= LONGEST_RETURN)


def _case(path: str, query: str) -> dict[str, str]:
    back = raw_return(path, query)
    decoded = return_to({"shop.example": SITE}, "shop.example", "https", unquote(path), query)
    assert decoded is not None
    assert back.startswith(f"{SITE}/")
    case = {"path": path, "query": query, "return": back, "page": waiting_page(PAGE, ROOM, back)}
    return case if decoded == back else case | {"decoded": decoded}


def _code(query: str) -> dict[str, str | None]:
    """Return which code of a query is redeemed, and the address without it."""
    options = Options(PAGE, {"/concert": ROOM})
    facts = Facts("GET", "/concert", query, "https", "192.0.2.1", {"accept": "text/html"}.get)
    decision = decide(options, facts, lambda *_: None, 0)
    if isinstance(decision, Redeem):
        return {"query": query, "code": decision.code, "clean": decision.clean_url}
    return {"query": query, "code": None}
