"""The address that we listen on: is it free, who listens there, and how to stop.

Workers share a port with `SO_REUSEPORT`. That would let two servers share it by accident, so we
check first. Closing a socket resets every connection that the kernel has taken but nobody has
accepted yet; a proxy has already sent its request and cannot send a POST twice. So before a socket
is closed it refuses new connections, and waiting ones are accepted.
"""

from __future__ import annotations

import array
import contextlib
import errno
import resource
import socket
import struct
import sys

from waitroom.errors import InvalidInput

_SO_ATTACH_FILTER = 26
# A program for the kernel's packet filter: drop packets with SYN and without ACK, keep the rest.
# Loads byte 13 of the TCP header, its flags. (code, jump if true, jump if false, operand)
_NO_SYN = (
    (0x30, 0, 0, 13),
    (0x54, 0, 0, 0x12),
    (0x15, 0, 1, 0x02),
    (0x06, 0, 0, 0),
    (0x06, 0, 0, 0xFFFFFFFF),
)
BACKLOG = 4096
_SEND_BUFFER = 128 * 1024
_UNREAD_MS = 30_000
_OTHER_FILES = 256
"""Open files other than visitors' connections: the backend, logs, libraries, and a reserve."""


def resolve(host: str, port: int) -> str:
    """Return the address of `host` that a server can listen on now, or say why there is none."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidInput(
            "host",
            f"{host!r:.80} is not an address; use 127.0.0.1 for this machine alone or 0.0.0.0",
        ) from None
    # `localhost` may have both; IPv4 is what people type.
    family, _, _, _, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise _refused(error, host, port) from None
    return str(address[0])


def _refused(error: OSError, host: str, port: int) -> InvalidInput:
    if error.errno == errno.EADDRINUSE:
        why = f"{port} is in use by another program; stop that one or choose another with --port"
        return InvalidInput("port", why)
    if error.errno in (errno.EACCES, errno.EPERM):
        why = f"{port} may be used by root only; choose one from 1024 on, like 8080, with --port"
        return InvalidInput("port", why)
    if error.errno == errno.EADDRNOTAVAIL:
        why = f"{host} is not an address of this machine; use 127.0.0.1, or 0.0.0.0 for all of them"
        return InvalidInput("host", why)
    return InvalidInput("host", f"{host} port {port} cannot be listened on: {error.strerror}")


def allow_files(wanted: int) -> int:
    """Raise the limit of open files for this many connections; return how many it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < need:
        most = need if hard == resource.RLIM_INFINITY else min(need, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if soft == resource.RLIM_INFINITY else max(16, min(wanted, soft - _OTHER_FILES))


def listen(address: str, port: int) -> socket.socket:
    """Return a socket bound to the port; the process that serves it calls `listen`.

    On Linux the kernel spreads connections over all sockets of the port.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    # For each connection: answers are small and must not wait; who does not read is cut off.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    if sys.platform.startswith("linux"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MS)
    listener.bind((address, port))
    listener.setblocking(False)
    return listener


def refuse(listener: socket.socket) -> bool:
    """Make a socket refuse new connections; waiting ones can still be accepted.

    A dropped client tries again after a second, and then finds the port closed, or us restarted.
    Only Linux can, and on some kernels only root; elsewhere a connection made in the last moment
    is reset.
    """
    if not sys.platform.startswith("linux"):
        return False
    steps = array.array("B", b"".join(struct.pack("HBBI", *step) for step in _NO_SYN))
    program = struct.pack("HP", len(_NO_SYN), steps.buffer_info()[0])
    try:
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    except PermissionError:
        return False
    return True
