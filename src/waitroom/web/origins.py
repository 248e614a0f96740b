"""Whether a form was sent by our own page: the check against cross-site request forgery. Pure.

Browsers say it in two headers that no page can set. `Sec-Fetch-Site` comes first: the browser
itself has compared the origins, and a proxy that rewrites `Host` cannot spoil it. `Origin` is for
browsers and connections (plain http) without it. Without both no browser of these years asks, and
the cookies are SameSite anyway.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

SITE_HEADER, ORIGIN_HEADER = "sec-fetch-site", "origin"
_OWN = ("same-origin", "none")  # `none`: the user did it, as by the reload button


def is_own_form(
    site: str | None, origin: str | None, hosts: Collection[str | None], *, origin_must_match: bool
) -> bool:
    """Tell whether `Sec-Fetch-Site` and `Origin` are those of a form of ours.

    `hosts` are our names, as `Host` and the public address have them. With `origin_must_match`
    an `Origin` counts also beside a good `Sec-Fetch-Site`: for forms of operators and hosts. A
    visitor's form works behind a proxy that rewrites `Host`, where `Origin` can never match.
    """
    if site is not None:
        if site not in _OWN:
            return False
        if not origin_must_match:
            return True
    if origin is None:
        return True
    try:
        host = urlsplit(origin).netloc
    except ValueError:
        return False
    return bool(host) and host in hosts
