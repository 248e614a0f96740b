"""docs/migrating.md is true: its script copies the line of an old queue, in order."""

from __future__ import annotations

import re
import secrets
import subprocess
import sys
import textwrap
from pathlib import Path

from redis import Redis

from tests.support.servers import Server
from tests.support.serving import ADMIN_KEY, Serving, clean_env
from tests.test_docs import DOCS
from waitroom import Client

PAGE = (DOCS / "migrating.md").read_text("utf-8")
SCRIPT = re.search(r"```python\n( +# copy_line\.py\n.*?)```", PAGE, re.S)
SHIM = re.search(r"```python\n( +async def position.*?)```", PAGE, re.S)


def copy(served: Serving, old: Server, queue: str, room: str, folder: Path) -> None:
    """Run the page's script unchanged."""
    assert SCRIPT
    (folder / "copy_line.py").write_text(textwrap.dedent(SCRIPT[1]), "utf-8")
    env = clean_env() | {
        "OLD_REDIS_URL": old.url,
        "WAITROOM_URL": served.base,
        "WAITROOM_KEY": ADMIN_KEY,
    }
    command = [sys.executable, "copy_line.py", queue, room]
    subprocess.run(command, cwd=folder, env=env, check=True)


async def test_the_line_moves_over(served: Serving, valkey: Server, tmp_path: Path) -> None:
    """Everybody keeps their position; later arrivals follow; a repeat changes nothing.

    The page's shim answers with the same positions, and the first in line is allowed first.
    """
    assert SHIM
    queue, room = f"old:{secrets.token_hex(6)}", served.new_room(mode="paused")
    tokens = [secrets.token_hex(8) for _ in range(30)]
    with Redis.from_url(valkey.url, decode_responses=True) as old:
        old.zadd(queue, {token: number for number, token in enumerate(tokens)})
        copy(served, valkey, queue, room, tmp_path)
        tokens.append("who-came-meanwhile")
        old.zadd(queue, {tokens[-1]: 1e12})
        copy(served, valkey, queue, room, tmp_path)
        old.delete(queue)
    async with Client(served.base, key=ADMIN_KEY) as waitroom:
        names = {"waitroom": waitroom}
        exec(textwrap.dedent(SHIM[1]).replace('"concert"', repr(room)), names)  # noqa: S102
        position = names["position"]
        said = [await position(token) for token in tokens]  # type: ignore[operator]
        assert [
            {"position": number, "allowed": False} for number in range(1, len(tokens) + 1)
        ] == said
        with served.operator() as operator:
            operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"mode": "manual"}})
            operator.post(f"/v1/admin/rooms/{room}/admit", json={"count": 1}).raise_for_status()
        said = [await position(token) for token in tokens[:2]]  # type: ignore[operator]
        assert [True, False] == [answer["allowed"] for answer in said]
