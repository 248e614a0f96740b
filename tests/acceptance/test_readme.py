"""What the README shows works: the example behind `make run`, and the few lines of Python."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.support.counts import count
from tests.support.servers import Server

ROOT = Path(__file__).parents[2]


def run(*args: str) -> str:
    """Run Python in a separate process, as a newcomer would; return its output."""
    done = subprocess.run(
        [sys.executable, *args], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_crowd_gets_through() -> None:
    """`make run` with a small crowd: everybody gets through, within the room's capacity."""
    output = run("examples/crowd.py", str(count("readme_crowd")))
    worst = re.search(r"never more than (\d+) at once", output)
    assert worst, output
    assert 1 <= int(worst[1]) <= 20


def test_the_lines_of_python(valkey: Server) -> None:
    """The README's example runs unchanged, against any server."""
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert block
    lines = block[1].replace("redis://localhost", valkey.url)
    imports = "".join(line for line in lines.splitlines(True) if line.startswith("from "))
    body = lines.replace(imports, "")
    room = 'await engine.create("concert", Policy())\n'
    body = body.replace("async with engine", f"{room}async with engine")
    program = f"import asyncio\nfrom waitroom.models import Policy\n{imports}\nasync def main():\n"
    program += textwrap.indent(f"{body}\nprint(view.state)", "    ")
    assert "inside" == run("-c", f"{program}\nasyncio.run(main())").strip()
