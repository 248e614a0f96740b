"""The systemd unit: systemd finds nothing wrong, and the command runs as it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

from tests.support.programs import needed
from tests.support.servers import Server, free_port
from tests.support.serving import ADMIN_KEY, SECRET, Serving, await_ready, end
from waitroom.settings import load

UNIT = Path(__file__).parent.parent.parent / "deploy" / "systemd" / "waitroom.service"
TEXT = UNIT.read_text("utf-8")
INSTALLED = "/opt/waitroom/bin/waitroom"
LEAST_EXPOSED = 1.1
"""The rating of `systemd-analyze security` for this unit, from 0 (safe) to 10 (unsafe)."""

# NoNewPrivileges and MemoryDenyWriteExecute: PR_SET_NO_NEW_PRIVS and PR_SET_MDWE of the kernel.
AS_THE_UNIT = """
import ctypes, os, sys
prctl = ctypes.CDLL(None, use_errno=True).prctl
for option in (38, 65):
    if prctl(option, 1, 0, 0, 0):
        sys.exit(f"prctl {option}: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[1], sys.argv[1:])
"""


def values(name: str) -> list[str]:
    """Return the unit's values for a name, line by line."""
    return re.findall(rf"^{name}=(.*)$", TEXT, re.M)


def environment(state: Path, credentials: Path) -> dict[str, str]:
    """Return the variables that the unit sets, with the folders that systemd would fill in."""
    text = " ".join(values("Environment")).replace("%S", str(state)).replace("%d", str(credentials))
    return dict(pair.split("=", 1) for pair in shlex.split(text))


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` finds nothing, and the file is an INI file."""
    unit = tmp_path / UNIT.name
    program = Path(sys.executable).with_name("waitroom")
    unit.write_text(TEXT.replace(INSTALLED, str(program)), "utf-8")
    command = [needed("systemd-analyze", "systemd"), "verify", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)
    parser = RawConfigParser(strict=False)
    parser.read_string(TEXT)
    assert ["Unit", "Service", "Install"] == parser.sections()


def test_the_service_may_do_little() -> None:
    """By systemd's own rating: loosening a rule without need fails here."""
    program = needed("systemd-analyze", "systemd")
    command = [program, "security", "--offline=true", "--no-pager", str(UNIT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    print(done.stdout)  # noqa: T201 - the table, for the log of CI
    level = re.search(r"Overall exposure level for waitroom\.service: ([\d.]+)", done.stdout)
    assert level, done.stderr
    assert float(level[1]) <= LEAST_EXPOSED


def test_credentials_and_variables_belong_together(tmp_path: Path) -> None:
    """Each credential is the file of a setting, and the writable folder is the state."""
    names = [line.partition(":")[0] for line in values("LoadCredential")]
    for name in names:
        (tmp_path / name).write_text(f"{name}\n", "utf-8")
    settings = load(environment(tmp_path, tmp_path))
    assert names == [getattr(settings, name) for name in names]
    assert tmp_path / values("StateDirectory")[0] == settings.data_dir
    assert float(values("TimeoutStopSec")[0]) > settings.drain_s + settings.answer_within_s


def test_the_command_runs_under_its_rules(tmp_path: Path) -> None:
    """With its variables, credentials and folder, and without privileges, the server answers."""
    port, log = free_port(), tmp_path / "log"
    state = tmp_path / values("StateDirectory")[0]
    state.mkdir(mode=0o700)
    backend = Server("valkey", tmp_path / "s", {}).start()
    for name, text in {"secret": SECRET, "admin_key": ADMIN_KEY, "redis_url": backend.url}.items():
        (tmp_path / name).write_text(f"{text}\n", "utf-8")
    program = str(Path(sys.executable).with_name("waitroom"))
    words = shlex.split(values("ExecStart")[0].replace(INSTALLED, program))
    env = environment(tmp_path, tmp_path) | {"WAITROOM_DRAIN_S": "0.2", "WAITROOM_PORT": str(port)}
    command = [sys.executable, "-c", AS_THE_UNIT, *words]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, cwd=state, stdout=out, stderr=out)
    served = Serving(process, port, state, log)
    try:
        await_ready(served)
        status = Path(f"/proc/{served.workers[0]}/status").read_text()
        assert "NoNewPrivs:\t1" in status
        served.new_room()
        assert 0 == served.stop(), served.said()
    finally:
        end(served)
        backend.stop()
