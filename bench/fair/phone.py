"""How long a phone needs at the floor: Chromium on a sixth of a core, in a worker as on our page.

DevTools slow down the thread of the page only. A worker and the browser's crypto have threads of
their own, so whole processes of the browser are stopped for five sixths of the time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright
from tests.browser.stage import FLAGS

from bench.fair.challenges import PAID
from bench.fair.scale import Scale
from bench.report import Figures, Line, Reporter, percentile
from bench.web.ground import Ground
from bench.web.peers import Peer
from waitroom.server.challenges.price import CEILING, FLOOR
from waitroom.server.challenges.work import Work, binding
from waitroom.tickets import KeyRing

LINES = (
    Line("solve_s_phone", "seconds to solve at the floor, p95, a sixth of a core", most=4),
    Line("solve_s_phone_p50", "the same, median"),
    Line("solve_s_phone_ceiling", "seconds at the ceiling, by the same speed, if unlucky"),
    Line("solve_s_desktop", "seconds to solve at the floor, p95, a whole core"),
)
SLOWER = 6
RUN_S = 0.005
SOLVE = """
(challenge) => new Promise((resolve, reject) => {
  const began = performance.now();
  const worker = new Worker("/static/work.js", { type: "module", name: "waitroom-work" });
  worker.onerror = () => reject(Error("the worker did not start"));
  worker.onmessage = ({ data }) => {
    if (data.share) return;
    worker.terminate();
    if (data.solution) resolve((performance.now() - began) / 1000);
    else reject(Error(data.error));
  };
  worker.postMessage(challenge);
})
"""


async def measure(
    on: Ground, server: Peer, scale: Scale, reporter: Reporter, figures: Figures
) -> None:
    """Solve in a browser, slowed down and not."""
    ring = KeyRing.from_text(on.secret)
    work, here = Work(ring), binding(ring, PAID, "127.0.0.1", "127.0.0.0/24")
    async with async_playwright() as playwright:
        path = next(filter(os.path.exists, ("/usr/bin/chromium", "/usr/bin/chromium-browser")))
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = await browser.new_page()
        # Any page of this origin without our content security policy.
        await page.goto(f"http://127.0.0.1:{server.port}/static/work.js")
        await page.evaluate(SOLVE, json.loads(work.issue(here, FLOOR)))
        with reporter.step("a desktop solves", scale.solves):
            quick = [
                await page.evaluate(SOLVE, json.loads(work.issue(here, FLOOR)))
                for _ in range(scale.solves)
            ]
        with reporter.step("a phone solves", scale.solves), slowed(_renderers()):
            slow = [
                await page.evaluate(SOLVE, json.loads(work.issue(here, FLOOR)))
                for _ in range(scale.solves)
            ]
        await browser.close()
    figures["solve_s_desktop"] = percentile(quick, 95)
    figures["solve_s_phone"] = percentile(slow, 95)
    figures["solve_s_phone_p50"] = percentile(slow, 50)
    figures["solve_s_phone_ceiling"] = percentile(slow, 95) * CEILING / FLOOR


def _renderers() -> list[int]:
    """Return the processes of our browser that run pages."""

    def family(pid: int) -> Iterator[int]:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                for child in (task / "children").read_text("ascii").split():
                    yield int(child)
                    yield from family(int(child))

    def runs_pages(pid: int) -> bool:
        with contextlib.suppress(OSError):
            return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False

    return [pid for pid in family(os.getpid()) if runs_pages(pid)]


@contextlib.contextmanager
def slowed(pids: list[int]) -> Iterator[None]:
    """Let processes run for a sixth of the time."""
    assert pids, "no process of the browser was found"
    over = threading.Event()

    def send(number: Any) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def slow() -> None:
        while not over.is_set():
            send(signal.SIGCONT)
            over.wait(RUN_S)
            send(signal.SIGSTOP)
            over.wait(RUN_S * (SLOWER - 1))

    thread = threading.Thread(target=slow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        send(signal.SIGCONT)
