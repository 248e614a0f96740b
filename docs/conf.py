"""The documentation site (`make docs`): the Markdown files of this folder, as GitHub shows them.

The differences between the two are handled while a page is read: pages of the folder above are
brought in under `project/`, links to other files of the repository lead to GitHub, and pictures in
two colour schemes follow the theme's switch. `tables.py` and `viewer.py` next to this file generate
what comes from the code.
"""

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(ROOT / "src")]  # the code of this checkout, installed or not

import tables  # noqa: E402 - after the path
import viewer  # noqa: E402

from waitroom.version import __version__  # noqa: E402

project = "Waitroom"
author = "The Waitroom project"
copyright = "the Waitroom project, Apache-2.0"  # noqa: A001 - Sphinx wants this name
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["README.md"]  # the list of pages on GitHub; index.md is that of the site
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # "…" in code stands for what is left out

myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4  # the same anchors as on GitHub
copybutton_exclude = ".linenos, .gp, .go"  # a command is copied without its prompt and output

html_theme = "furo"
html_title = f"Waitroom {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "footer_icons": [],
    "source_repository": "https://github.com/waitroom/waitroom/",
    "source_branch": "main",
    "source_directory": "docs/",
}

GITHUB = "https://github.com/waitroom/waitroom"
SITE = "https://waitroom.readthedocs.io/en/latest/"
BROUGHT_IN = {
    name: f"project/{name.removesuffix('.md').lower()}.md"
    for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
}
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)]*)?(?=\))")
PICTURE = re.compile(
    r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*</picture>'
)
VIEWER = re.compile(rf"\[([^]]+)\]\({re.escape(SITE)}api/\)")


def rewritten(text: str, page: str) -> str:
    """Return a page's text for the site; `page` is its path in the repository."""
    up = "../" * page.removeprefix("docs/").count("/")

    def link(found: re.Match[str]) -> str:
        target = (ROOT / page).parent.joinpath(found[1]).resolve().relative_to(ROOT).as_posix()
        anchor = found[2] or ""
        if target in BROUGHT_IN:
            return f"/{BROUGHT_IN[target]}{anchor}"
        if target == "docs/README.md":
            return f"/index.md{anchor}"
        if target.startswith("docs/"):
            return f"/{target.removeprefix('docs/')}{anchor}"
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{GITHUB}/{kind}/main/{target}{anchor}"

    text = PICTURE.sub(r"![\2](\3){.only-light}\n![\2](\1){.only-dark}", text)
    text = VIEWER.sub(rf'<a href="{up}api/index.html">\1</a>', text)
    return LINK.sub(link, text)


def read(_app: Any, docname: str, source: list[str]) -> None:
    """Change a page as it is read; those of `project/` were changed when written."""
    if not docname.startswith("project/"):
        source[0] = rewritten(source[0], f"docs/{docname}.md")


def bring_in(_app: Any) -> None:
    """Write the pages that are not in this folder."""
    (DOCS / "project").mkdir(exist_ok=True)
    for name, page in BROUGHT_IN.items():
        text = rewritten((ROOT / name).read_text("utf-8"), name)
        _keep(DOCS / page, text)
    _keep(DOCS / "project/tables.md", tables.page())


def _keep(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:  # otherwise Sphinx would read it again
        path.write_text(text, "utf-8")


def in_its_language(
    _app: Any, pagename: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Tell browsers and screen readers which pages are Korean."""
    if pagename.startswith("ko/"):
        context["language"] = "ko"
    if pagename.startswith("project/"):
        context["page_source_suffix"] = None  # it is elsewhere: no link to edit it here


def setup(app: Any) -> None:
    """Connect everything to Sphinx."""
    app.connect("builder-inited", bring_in)
    app.connect("source-read", read)
    app.connect("html-page-context", in_its_language)
    app.connect(
        "build-finished", lambda app, error: error or viewer.write(ROOT, Path(app.outdir) / "api")
    )
