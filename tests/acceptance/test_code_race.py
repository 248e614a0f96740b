"""A thousand clients in eight processes with one code: one place, and nobody else gets one."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.support.clock import SECRET, open_engine
from tests.support.figures import say
from tests.support.servers import start_server
from waitroom.models import Mode, Needs, Policy

PROCESSES = 8
CLIENTS = 125
ROOM = "race"
_CLIENTS = """
import asyncio, json, sys
from pathlib import Path
from waitroom.engine import Engine
from waitroom.errors import CodeRefused
from waitroom.tickets import KeyRing

async def run(url, secret, number, clients, code):
    async with await Engine.connect(url, Path("/nowhere"), KeyRing([secret.encode()])) as engine:
        await engine.stats("race")
        print("ready", flush=True)
        sys.stdin.readline()
        async def join(client):
            try:
                view = await engine.join("race", visitor=f"{code}:{number}.{client}", code=code)
            except CodeRefused as error:
                return error.reason
            again = await engine.join("race", visitor=f"{code}:{number}.{client}", code=code)
            assert (view.id, view.position) == (again.id, again.position)
            return view.id
        print(json.dumps(await asyncio.gather(*map(join, range(clients)))))

url, secret, number, clients, code = sys.argv[1:]
asyncio.run(run(url, secret, int(number), int(clients), code))
"""


async def raced(url: str, code: str) -> list[str]:
    """Let all clients of all processes begin at once; return what each got."""
    program = (sys.executable, "-c", _CLIENTS, url, SECRET.decode())
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(
            *program, str(number), str(CLIENTS), code, stdin=pipe, stdout=pipe
        )
        for number in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdout
        assert b"ready\n" == await process.stdout.readline()
    outs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [0] * PROCESSES == [process.returncode for process in processes]
    return [answer for out, _ in outs for answer in json.loads(out)]


async def test_one_code_for_a_thousand(tmp_path: Path) -> None:
    """One gets the place, and gets it again when they ask again; all others are told `used`."""
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            await engine.create(ROOM, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
            for uses in (1, 7):
                batch = await engine.issue(ROOM, 1, uses=uses)
                answers = await raced(server.url, next(engine.codes(ROOM, batch)))
                places = {answer for answer in answers if answer != "used"}
                assert (PROCESSES * CLIENTS, uses) == (len(answers), len(places))
                assert PROCESSES * CLIENTS - uses == answers.count("used")
                noted = {each.batch: each.used for each in await engine.batches(ROOM)}
                assert uses == noted[batch.batch]
                say(f"{len(answers)} clients in {PROCESSES} processes: {len(places)} of {uses}")
            assert 8 == (await engine.stats(ROOM)).waiting
            await engine.clear(ROOM)
