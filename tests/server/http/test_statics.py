"""Scripts and style sheets: minified if they were built, and never older than their sources."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import need_assets
from waitroom.server.http import assets, statics

SCRIPT = "waiting/page.js"
TYPED = "operator/console.js"


@pytest.fixture
def without_a_build(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve the sources, as on a machine without npm."""
    monkeypatch.setattr(assets, "up_to_date", set)
    statics.files.cache_clear()
    yield
    statics.files.cache_clear()


@pytest.mark.usefixtures("without_a_build")
def test_sources_are_served_without_a_build() -> None:
    """Then a page imports the client by its version, and tells the browser to preload it."""
    client = statics.url_of(statics.CLIENT)
    assert client == statics.imported_by(SCRIPT)
    assert f'from "{client}"' in statics.files()[SCRIPT].content.decode()
    source = (assets.SOURCES / "waiting/page.css").read_bytes()
    assert source == statics.files()["waiting/page.css"].content
    assert not statics.is_there(TYPED)


def test_built_files_are_smaller_and_whole() -> None:
    """Each source has its minified file, and a script contains the client that it imports."""
    need_assets()
    statics.files.cache_clear()
    files = {name: file for name, file in statics.files().items() if name.endswith((".js", ".css"))}
    for name, file in files.items():
        assert (assets.BUILT / name).read_bytes() == file.content
        if (assets.SOURCES / name).is_file() and b'"/waitroom.js"' not in (
            assets.SOURCES / name
        ).read_bytes():
            assert len(file.content) < 0.9 * len((assets.SOURCES / name).read_bytes()), name
    assert statics.imported_by(SCRIPT) is None
    assert b'"/waitroom.js"' not in files[SCRIPT].content


def test_an_edit_is_seen_without_a_build(tmp_path: Path) -> None:
    """A built file for another source, or for none, is ignored; the others still count."""
    sources, built = tmp_path / "static", tmp_path / assets.BUILT.name
    shutil.copytree(assets.SOURCES, sources)
    assert not assets.are_built(sources)
    need_assets()
    shutil.copytree(assets.BUILT, built)
    assert assets.are_built(sources)
    (sources / SCRIPT).write_text("// edited")
    assert not assets.are_built(sources)
    assert SCRIPT not in assets.up_to_date(sources)
    assert TYPED in assets.up_to_date(sources)
    (sources / "operator/live.ts").write_text("// edited")
    assert TYPED not in assets.up_to_date(sources)


def test_what_is_bundled_comes_with_its_licence() -> None:
    """A built script comes with the licence of every package that is part of it."""
    need_assets()
    licences = (assets.BUILT / "LICENSES.txt").read_text("utf-8")
    assert "Zero-Clause BSD" in licences  # idiomorph
    assert "Leon Sorokin" in licences  # uPlot
