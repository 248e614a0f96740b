"""Requests that no decent client sends, as raw bytes: one table for our server and for nginx.

Where two HTTP parsers could disagree about where a request ends, it hides a second one: a `GET` of
`HIDDEN`, which nobody must ever answer. All others ask for `PATH`, which does not exist.
"""

from __future__ import annotations

HIDDEN = "/v1/rooms/hidden"
PATH = "/v1/nowhere"

_SECOND = f"GET {HIDDEN} HTTP/1.1\r\nHost: waitroom.test\r\n\r\n".encode()
_HOST = b"Host: waitroom.test\r\n"
_LINE = f"{PATH} HTTP/1.1\r\n".encode()
_GET, _POST = b"GET " + _LINE + _HOST, b"POST " + _LINE + _HOST
_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n\r\n"
_IN_CHUNK = b"%x\r\n" % len(_SECOND) + _SECOND + b"\r\n0\r\n\r\n"
_LENGTH = b"Content-Length: %d\r\n" % len(_SECOND)

MALFORMED: dict[str, tuple[bytes, int]] = {
    # Where does the body end?
    "both lengths": (
        _POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + _SECOND,
        400,
    ),
    "both lengths, chunked first": (
        _POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + _SECOND,
        400,
    ),
    "two lengths": (
        _POST + b"Content-Length: 0\r\n" + _LENGTH + b"\r\n" + _SECOND,
        400,
    ),
    "the same length twice": (_POST + _LENGTH * 2 + b"\r\n" + _SECOND, 400),
    "a list of lengths": (_POST + b"Content-Length: 0, 61\r\n\r\n" + _SECOND, 400),
    "a length with a plus": (_POST + b"Content-Length: +3\r\n\r\nabc" + _SECOND, 400),
    "a negative length": (_POST + b"Content-Length: -1\r\n\r\n" + _SECOND, 400),
    "a length in hex": (_POST + b"Content-Length: 0x3d\r\n\r\n" + _SECOND, 400),
    "a length with a blank in it": (_POST + b"Content-Length: 6 1\r\n\r\n" + _SECOND, 400),
    "a length with a fraction": (_POST + b"Content-Length: 61.0\r\n\r\n" + _SECOND, 400),
    "an empty length": (_POST + b"Content-Length: \r\n\r\n" + _SECOND, 400),
    "a length beyond 64 bits": (
        _POST + b"Content-Length: 18446744073709551677\r\n\r\n" + _SECOND,
        400,
    ),
    "a length behind a fold": (_POST + b"Content-Length:\r\n 61\r\n\r\n" + _SECOND, 400),
    # Which coding?
    "xchunked": (_POST + b"Transfer-Encoding: xchunked\r\n\r\n" + _IN_CHUNK, 400),
    "chunked, then identity": (
        _POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + _IN_CHUNK,
        400,
    ),
    "identity": (_POST + b"Transfer-Encoding: identity\r\n\r\n" + _IN_CHUNK, 400),
    "chunked in one header, then another": (
        _POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n" + _IN_CHUNK,
        400,
    ),
    "chunked twice": (
        _POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + _IN_CHUNK,
        400,
    ),
    "chunked behind a vertical tab": (
        _POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + _IN_CHUNK,
        400,
    ),
    # How long is the chunk?
    "no chunk size": (_CHUNKED + b"zz\r\n" + _SECOND, 400),
    "an empty chunk size": (_CHUNKED + b"\r\n" + _SECOND, 400),
    "a chunk size with a plus": (_CHUNKED + b"+0\r\n\r\n" + _SECOND, 400),
    "a chunk size with a minus": (_CHUNKED + b"-1\r\n\r\n" + _SECOND, 400),
    "a chunk size as 0x": (_CHUNKED + b"0x0\r\n\r\n" + _SECOND, 400),
    "a blank before a chunk size": (_CHUNKED + b" 0\r\n\r\n" + _SECOND, 400),
    "a blank behind a chunk size": (_CHUNKED + b"0 \r\n\r\n" + _SECOND, 400),
    "a chunk size beyond 64 bits": (_CHUNKED + b"10000000000000000\r\n\r\n" + _SECOND, 400),
    "a chunk that is longer than it says": (_CHUNKED + b"1\r\nabc\r\n0\r\n\r\n" + _SECOND, 400),
    "a chunk size that ends in a bare CR": (_CHUNKED + b"0\r\r\n" + _SECOND, 400),
    "a chunk size that ends in a bare LF": (_CHUNKED + b"2\nab\r\n0\r\n\r\n", 400),
    "a NUL in a chunk extension": (_CHUNKED + b"0;a=\0\r\n\r\n" + _SECOND, 400),
    "a length as a trailer": (_CHUNKED + b"0\r\n" + _LENGTH + b"\r\n" + _SECOND, 400),
    # Where does a line or a header end?
    "a bare CR in a header": (_GET + b"X: a\rY: b\r\n\r\n", 400),
    "a bare CR before a length": (_POST + b"X: a\rContent-Length: 61\r\n\r\n" + _SECOND, 400),
    "bare LFs": (_GET.replace(b"\r\n", b"\n") + b"\n", 400),
    "a bare LF before a length": (
        _POST + b"X: a\nContent-Length: %d\r\n\r\n" % len(_SECOND) + _SECOND,
        400,
    ),
    "a NUL in a header": (_GET + b"X: a\0b\r\n\r\n", 400),
    "a NUL in the name of a header": (_GET + b"X\0: a\r\n\r\n", 400),
    "a NUL in the path": (b"GET /v1/now\0here HTTP/1.1\r\n" + _HOST + b"\r\n", 400),
    "a folded header": (_GET + b"X: a\r\n Content-Length: 61\r\n\r\n", 400),
    "a fold before the first header": (b"GET " + _LINE + b" X: a\r\n" + _HOST + b"\r\n", 400),
    "a blank before the colon": (_POST + b"Content-Length : 61\r\n\r\n" + _SECOND, 400),
    "a blank before the colon of Host": (b"GET " + _LINE + b"Host : waitroom.test\r\n\r\n", 400),
    "a tab before the colon": (_POST + b"Transfer-Encoding\t: chunked\r\n\r\n" + _IN_CHUNK, 400),
    "a header without a colon": (_GET + b"nonsense\r\n\r\n", 400),
    "a header without a name": (_GET + b": a\r\n\r\n", 400),
    "bytes above ASCII in the name of a header": (_GET + "엑스: a\r\n\r\n".encode(), 400),
    # Whose request is it?
    "no Host": (b"GET " + _LINE + b"\r\n", 400),
    "an empty Host": (b"GET " + _LINE + b"Host: \r\n\r\n", 400),
    "two Hosts": (_GET + b"Host: evil.test\r\n\r\n", 400),
    "the same Host twice": (_GET + _HOST + b"\r\n", 400),
    # What is the first line?
    "no HTTP": (b"HELO mail\r\n\r\n", 400),
    "binary": (bytes(range(256)), 400),
    "TLS on a port without it": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 64, 400),
    "HTTP/0.9": (f"GET {PATH}\r\n\r\n".encode(), 400),
    "HTTP/0.9 by name": (_GET.replace(b"HTTP/1.1", b"HTTP/0.9") + b"\r\n", 400),
    "HTTP/2.0": (_GET.replace(b"HTTP/1.1", b"HTTP/2.0") + b"\r\n", 400),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "HTTP/1.10": (_GET.replace(b"HTTP/1.1", b"HTTP/1.10") + b"\r\n", 400),
    "http/1.1": (_GET.replace(b"HTTP/1.1", b"http/1.1") + b"\r\n", 400),
    "a method in small letters": (_GET.replace(b"GET", b"get") + b"\r\n", 400),
    "an unknown method": (_GET.replace(b"GET", b"BREW\x7f") + b"\r\n", 400),
    "tabs in the first line": (_GET.replace(b" ", b"\t", 2) + b"\r\n", 400),
    "a blank in the path": (_GET.replace(b"nowhere", b"no where") + b"\r\n", 400),
    "a blank before the method": (b" " + _GET + b"\r\n", 400),
    "a path that does not begin with a slash": (_GET.replace(b"/v1", b"v1", 1) + b"\r\n", 400),
    # How much?
    "a large body": (_POST + b"Content-Length: 999999999\r\n\r\n", 413),
    "large chunks": (_CHUNKED + (b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n") * 20, 413),
    "a long head": (_GET + b"X: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    "a long path": (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + _HOST + b"\r\n", 431),
    "a long name of a header": (_GET + b"X" * 70_000 + b": a\r\n\r\n", 431),
    "an endless head": (_GET + b"X: " + b"a" * 400_000, 431),
    "many headers": (_GET + b"X: a\r\n" * 101 + b"\r\n", 431),
}
"""By name: the bytes, and the status with which our server refuses them without asking the app."""

ODD: dict[str, bytes] = {
    "a path on another host": _GET.replace(b" /v1", b" http://evil.test/v1") + b"\r\n",
    "bytes above ASCII in a header": _GET + "X: 줄\r\n\r\n".encode(),
    "a long chunk extension": _CHUNKED + b"0;" + b"a" * 70_000 + b"\r\n\r\n",
    "chunked in HTTP/1.0": (_CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n" + _SECOND),
    "a body of a GET": _GET + _LENGTH + b"\r\n" + _SECOND,
    "Chunked in capitals": _POST + b"Transfer-Encoding: CHUNKED\r\n\r\n" + _IN_CHUNK,
    "a header that says not to send Content-Length on": (
        _POST + b"Connection: close, Content-Length\r\n" + _LENGTH + b"\r\n" + _SECOND
    ),
    "an upgrade": _GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + _SECOND,
    "an upgrade to h2c": (
        _GET + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n" + _SECOND
    ),
    "a body that must be asked for": (
        _POST + b"Expect: 100-continue\r\n" + _LENGTH + b"\r\n" + _SECOND
    ),
    "what follows is no request": _POST + b"Content-Length: 3\r\n\r\nabc\x00\x01garbage\r\n\r\n",
}
"""Odd, but each is exactly one request, whatever seems to follow it."""
