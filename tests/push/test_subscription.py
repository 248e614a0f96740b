"""Subscriptions come from visitors: only usable ones at a listed push service are accepted."""

from __future__ import annotations

import pytest

from tests.support.push_service import Browser
from waitroom.errors import InvalidInput
from waitroom.push.subscription import LONGEST_ENDPOINT, PushHosts, Subscription
from waitroom.settings import PUSH_HOSTS

HOSTS = PushHosts.from_text(PUSH_HOSTS)
GOOD = "https://fcm.googleapis.com/fcm/send/abc"


@pytest.mark.parametrize(
    "endpoint",
    [
        GOOD,
        "https://FCM.googleapis.com:443/fcm/send/abc:def-_",
        "https://updates.push.services.mozilla.com/wpush/v2/gAAAA",
        "https://web.push.apple.com/QGuQ",
        "https://wns2-par02p.notify.windows.com/w/?token=BQYA%2f",
    ],
)
def test_push_services(endpoint: str) -> None:
    """Browsers' push services are known, and what is stored reads back the same."""
    subscription = Browser(endpoint).subscription(HOSTS, "ko")
    assert subscription == Subscription.from_text(subscription.to_text())
    assert endpoint.startswith(subscription.origin)


@pytest.mark.attack
@pytest.mark.parametrize(
    "endpoint",
    [
        "http://fcm.googleapis.com/x",
        "https://fcm.googleapis.com:8443/x",
        "https://fcm.googleapis.com./x",
        "https://fcm.googleapis.com.evil.example/x",
        "https://evilfcm.googleapis.com/x",
        "https://evil.example/fcm.googleapis.com",
        "https://evil.example#.push.apple.com",
        "https://evil.example?.push.apple.com",
        "https://evil.example\\.push.apple.com/x",
        "https://evil.example;.push.apple.com/x",
        "https://fcm.googleapis.com@evil.example/x",
        "https://fcm.googleapis.com:443@169.254.169.254/x",
        "https://push.apple.com/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/x",
        "https://localhost/x",
        "https:///x",
        "https://fcm.googleapis.com:port/x",
        "//fcm.googleapis.com/x",
        "javascript:alert(1)",
        "https://fcm.googleapis.com/\r\nHost: evil.example",
        "https://fcm.googleapis.com/한",
        GOOD + "x" * LONGEST_ENDPOINT,
        "",
    ],
)
def test_other_addresses(endpoint: str) -> None:
    """Nothing but https at a listed push service is an endpoint, however it is spelled."""
    with pytest.raises(InvalidInput, match="endpoint"):
        HOSTS.check(endpoint)


@pytest.mark.parametrize(
    ("p256dh", "auth"),
    [
        ("", None),
        ("BA", None),
        ("x" * 87, None),
        ("B" + "A" * 86, None),
        ("=" * 1_000_000, None),
        (None, ""),
        (None, "AAAA"),
        (None, "A" * 23),
        (None, "한"),
    ],
)
def test_keys_that_are_none(p256dh: str | None, auth: str | None) -> None:
    """A point that is not on the curve, or a secret of another length, is refused."""
    keys = Browser(GOOD).json["keys"]
    with pytest.raises(InvalidInput, match="keys"):
        Subscription.checked(
            HOSTS,
            GOOD,
            keys["p256dh"] if p256dh is None else p256dh,
            keys["auth"] if auth is None else auth,
            "en",
        )
