"""Every layout fits every language: nothing leaves the card, and script and server agree."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.faces import faces, put, waiting
from tests.browser.stage import Stage, text
from waitroom.estimate.methods import Wait
from waitroom.server.pages.locale_file import read_words
from waitroom.server.pages.locales import SHIPPED, load_locales
from waitroom.server.waiting.words import wait_words

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(1)]
TAGS = sorted(load_locales(None))
PSEUDO = "en"
"""What the operator's folder in these tests changes to the pseudo-language."""

ACCENTS = str.maketrans("aceinouyACEINOUY", "åçéîñöûýÅÇÉÎÑÖÛÝ")
OUTSIDE = """() => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const root = document.documentElement, main = document.querySelector("main");
  const card = main.getBoundingClientRect(), range = document.createRange(), wide = [];
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    range.selectNode(texts.currentNode);
    const box = range.getBoundingClientRect(), seen = !range.startContainer.closest(".unseen");
    const out = box.right > card.right + 1 || box.left < card.left - 1;
    if (seen && box.width && out) wide.push(`${range}`);
  }
  if (root.scrollWidth > root.clientWidth) wide.push(`the page: ${root.scrollWidth}`);
  return wide;
}"""


def pseudo(words: Any) -> Any:
    """Return a text as a longer language would have it: `[Éñöööüügh {n}]`.

    Words get longer, not sentences: a long word is what breaks a layout.
    """
    if isinstance(words, dict):
        return {category: pseudo(form) for category, form in words.items()}
    parts = re.split(r"(\{\w+\})", words)
    longer = [re.sub(r"([aeiouys])", r"\1\1", part).translate(ACCENTS) for part in parts[::2]]
    parts[::2] = longer
    return f"[{''.join(parts)}]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an operator's folder that turns English into the pseudo-language."""
    english = read_words(SHIPPED / f"{PSEUDO}.json")
    words = {key: pseudo(entry) for key, entry in english.items() if key != "_meta"}
    (tmp_path / f"{PSEUDO}.json").write_text(json.dumps(words), "utf-8")
    return tmp_path


async def test_the_pseudo_language_is_long() -> None:
    """It has the placeholders and plurals of English, and is two fifths longer."""
    assert "[Ýööûû ååréé {n} ööf {all}]" == pseudo("You are {n} of {all}")
    plain = [text for text in read_words(SHIPPED / "en.json").values() if isinstance(text, str)]
    assert 1.4 <= len("".join(map(pseudo, plain))) / len("".join(plain))


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
@pytest.mark.parametrize("lang", [PSEUDO, "de"])
async def test_nothing_is_too_wide(
    stage: Stage, open_page: Open, folder: Path, lang: str, *, script: bool
) -> None:
    """A pseudo-language and our longest ones fit every state, on a phone and on a desktop."""
    page = await open_page("about:blank", java_script_enabled=script)
    wrong: dict[str, list[str]] = {}
    for name, view in faces(lang, load_locales(folder)):
        await put(page, stage, view)
        for width in (390, 1_280):
            await page.set_viewport_size({"width": width, "height": 844})
            wrong[f"{name} at {width}"] = await page.evaluate(OUTSIDE)
    assert {} == {place: parts for place, parts in wrong.items() if parts}


@pytest.mark.parametrize("lang", TAGS)
async def test_script_and_server_agree(stage: Stage, open_page: Open, lang: str) -> None:
    """Babel's numbers and plurals are those of the browser, for one and for many."""
    words = load_locales(None)[lang]
    page = await open_page("about:blank")
    base = dict(faces(lang))["join"]
    for position, wait in ((5_020, Wait(0, 50, 60)), (1_234, Wait(480, 540, 660))):
        view = waiting(base, position, wait)
        await put(page, stage, view)
        assert wait_words(words, wait, position) == await text(page, "wait")
        assert [view.ahead, view.place, view.behind] == [
            await text(page, name) for name in ("ahead", "place", "behind")
        ]


async def test_choosing_without_a_script(stage: Stage, open_page: Open) -> None:
    """The chooser needs no script, keeps the return address, and its choice is kept."""
    room = await stage.room(go_to="/shop")
    page = await open_page(
        stage.page_of(room) + "?return=%2Fshop%3Fseat%3D4",
        locale="zh-TW",
        java_script_enabled=False,
    )
    assert "zh-Hant" == await page.get_attribute("html", "lang")
    await page.locator("footer summary").click()
    await page.get_by_role("link", name="日本語", exact=True).click()
    await expect(page.locator("html")).to_have_attribute("lang", "ja")
    assert "/shop?seat=4" == await page.locator("input[name=return]").first.input_value()
    await page.goto(stage.page_of(room))
    assert "ja" == await page.get_attribute("html", "lang")
