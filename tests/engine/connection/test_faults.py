"""What an exception of redis-py means: a server that is away, full or unfit, or our own error."""

from __future__ import annotations

import pytest
from redis import exceptions as redis_errors

from waitroom.engine.connection.faults import backend_error
from waitroom.errors import BackendFull, BackendUnavailable, BackendUnfit, Unavailable


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (redis_errors.ResponseError("ERR in script: -OOM command not allowed when"), BackendFull),
        (redis_errors.ConnectionError("x"), BackendUnavailable),
        (redis_errors.TimeoutError("x"), BackendUnavailable),
        (TimeoutError(), BackendUnavailable),
        (OSError("x"), BackendUnavailable),
        (redis_errors.BusyLoadingError("x"), BackendUnavailable),
        (redis_errors.ClusterDownError("CLUSTERDOWN x"), BackendUnavailable),
        (redis_errors.SlotNotCoveredError("x"), BackendUnavailable),
        (redis_errors.TryAgainError("x"), BackendUnavailable),
        (redis_errors.MasterDownError("MASTERDOWN x"), BackendUnavailable),
        (redis_errors.ResponseError("MISCONF x"), BackendUnavailable),
        (redis_errors.ResponseError("BUSY x"), BackendUnavailable),
        (redis_errors.AuthenticationError("x"), BackendUnfit),
        (redis_errors.NoPermissionError("x"), BackendUnfit),
        (redis_errors.ResponseError("NOAUTH x"), BackendUnfit),
        (redis_errors.MovedError("1 h:1"), BackendUnfit),
        (redis_errors.ResponseError("WRONGTYPE x"), None),
        (redis_errors.NoScriptError("NOSCRIPT x"), None),
        (ValueError("x"), None),
    ],
)
def test_what_errors_mean(error: Exception, expected: type[Unavailable] | None) -> None:
    """Each error of the client library has one meaning; our own faults have none."""
    actual = backend_error(error)
    assert expected is (None if actual is None else type(actual))
