"""The documentation site: built strictly from the pages as they are, with working links.

`make docs` builds the same. It takes seconds, so one build serves all tests of this file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.test_docs import DOCS, PAGES, ROOT


class Page(HTMLParser):
    """A page's anchors, its links, and what it fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.language = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record what a tag says."""
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "html":
            self.language = given.get("lang", "")
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag in ("img", "script", "source", "iframe") and "src" in given:
            self.fetched.add(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.add(given["href"])


def need_viewer() -> None:
    """Skip a test of the site if npm has not installed its viewer; in CI it fails."""
    if (ROOT / "node_modules/swagger-ui-dist").is_dir():
        return
    if os.environ.get("CI") == "true":
        pytest.fail("Swagger UI is not installed, and CI must build the site: `npm install`")
    pytest.skip("Swagger UI is not installed: `npm install` to build the site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a Sphinx warning is an error: a dead link, a page that no list names."""
    need_viewer()
    made = tmp_path_factory.mktemp("site")
    options = ["-q", "-n", "-W", "--keep-going", "-d", str(made / "trees"), "-b", "html"]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(made / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)
    return made / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Return every page of the site."""
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    """Each link within the site leads to an existing file, and to a place on that page."""
    dead = []
    for path, page in pages.items():
        for link in page.links | page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].ids if target in pages else set()
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in known):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert [] == dead
    assert len(pages) > 40


def test_nothing_comes_from_elsewhere(pages: dict[Path, Page]) -> None:
    """Scripts, styles, fonts and pictures are part of the site: it works offline."""
    assert set() == {url for page in pages.values() for url in page.fetched if urlsplit(url).netloc}


def test_it_can_be_searched(site: Path) -> None:
    """The search index knows what only one page explains, in English and Korean."""
    index = (site / "searchindex.js").read_text("utf-8")
    words = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["terms"]
    assert "joins_per_minut" in words  # its stem
    assert [word for word in words if word.startswith("대기실")]


def test_korean_pages_say_so(site: Path, pages: dict[Path, Page]) -> None:
    """Browsers and screen readers learn the language of each page."""
    korean = {path for path, page in pages.items() if page.language == "ko"}
    assert set((site / "ko").glob("*.html")) == korean
    assert len(korean) >= 5


def test_the_viewer_has_the_real_document(site: Path) -> None:
    """The API viewer shows what the server serves, including the desk, with its licence."""
    document = json.loads((site / "api/openapi.json").read_text("utf-8"))
    assert {"/v1/check", "/v1/stores/{store}/parties"} <= set(document["paths"])
    assert "Apache License" in (site / "api/LICENSE").read_text("utf-8")
    page = (site / "api/index.html").read_text("utf-8")
    files = re.findall(r'(?:src|href|url)[=:] ?"([^"]+)"', page)
    assert {"openapi.json", "swagger-ui.css", "swagger-ui-bundle.js"} <= set(files)
    assert not [name for name in files if not (site / "api" / name).exists()]


def test_the_list_on_github_is_whole() -> None:
    """docs/README.md, which GitHub shows, links to every page beside it."""
    text = (DOCS / "README.md").read_text("utf-8")
    beside = {path.name for path in PAGES if path.parent == DOCS} - {"README.md", "index.md"}
    assert set() == beside - set(re.findall(r"\]\(([\w-]+\.md)", text))
