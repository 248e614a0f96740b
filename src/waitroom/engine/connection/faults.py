"""What an exception of redis-py means for us."""

from __future__ import annotations

from ssl import SSLCertVerificationError

from redis import exceptions as redis_errors

from waitroom.errors import BackendFull, BackendUnavailable, BackendUnfit, Unavailable

FAULTS = (
    TimeoutError,
    OSError,
    redis_errors.RedisError,
    redis_errors.RedisClusterException,  # not a `RedisError`
)
"""Everything that a redis-py call may raise."""

_UNAVAILABLE = (
    redis_errors.ConnectionError,
    redis_errors.TimeoutError,
    redis_errors.ReadOnlyError,
    redis_errors.ClusterError,
    redis_errors.TryAgainError,
    redis_errors.RedisClusterException,
    OSError,
)
_AUTH = (
    redis_errors.AuthenticationError,
    redis_errors.AuthorizationError,
    redis_errors.NoPermissionError,
    redis_errors.AuthenticationWrongNumberOfArgsError,
)
# Codes without a redis-py class. MISCONF: the disk is full; BUSY: another client's script runs.
_UNAVAILABLE_CODES = ("BUSY", "CLUSTERDOWN", "MASTERDOWN", "MISCONF", "NOREPLICAS", "TRYAGAIN")
_AUTH_CODES = ("NOAUTH", "WRONGPASS", "NOPERM")


def backend_error(error: Exception, where: str = "the server") -> Unavailable | None:
    """Return our error for a redis-py exception; None if it is not a fault of a server.

    After BackendUnavailable a call may or may not have run: its reply may have been lost.
    """
    text = str(error)
    cause = error.__cause__
    if isinstance(error, redis_errors.RedisClusterException) and isinstance(cause, Exception):
        return backend_error(cause, where)
    # A script error of Redis 6.2 has the code in the middle of its text.
    if isinstance(error, redis_errors.OutOfMemoryError) or "-OOM command not allowed" in text:
        return BackendFull()
    if isinstance(error, _AUTH) or text.startswith(_AUTH_CODES):
        return BackendUnfit(
            f"{where} refuses us ({text}); correct user and password in the URL, "
            "or the rights of that user"
        )
    if certificate := _certificate_error(error):
        return BackendUnfit(
            f"{where} has a certificate that we do not trust ({certificate.verify_message}); "
            "correct ssl_ca_certs and the host in the URL, or its certificate"
        )
    if isinstance(error, redis_errors.AskError) or "Cluster mode is not enabled" in text:
        return BackendUnfit(f"{where} and the URL disagree about Cluster ({text}); correct the URL")
    if isinstance(error, redis_errors.TimeoutError | TimeoutError):
        return BackendUnavailable(
            f"{where} did not answer in time; check that it runs and its load"
        )
    if isinstance(error, _UNAVAILABLE) or text.startswith(_UNAVAILABLE_CODES):
        return BackendUnavailable(f"{where} cannot be used now ({text}); check that it runs")
    return None


def _certificate_error(error: BaseException | None) -> SSLCertVerificationError | None:
    """Return why a certificate was refused; redis-py wraps that in its own errors."""
    while error is not None and not isinstance(error, SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error
