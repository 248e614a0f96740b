"""Every state of the waiting page: accessible, in both colour schemes, small, and well worded."""

from __future__ import annotations

from dataclasses import replace

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.faces import POLICY, faces, put, waiting
from tests.browser.stage import Stage, heading, text
from waitroom.estimate.methods import Wait
from waitroom.estimate.reasons import Reason
from waitroom.server.pages.text import LANGUAGES
from waitroom.server.waiting.view import PageView
from waitroom.server.waiting.words import wait_words, words_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
SERIOUS = ("serious", "critical")
WAITS = (
    None,
    Wait(0, 10, 59),
    Wait(0, 50, 60),
    Wait(30, 90, 150),
    Wait(120, 120, 120),
    Wait(480, 540, 660),
    Wait(0, 600, 1_800),
    Wait(300, 700, 1_800),
    Wait(240, 900, 2_400),
    Wait(90, 900, 2_400),
    Wait(480, 1_000, 6_000),
    Wait(3_000, 5_000, 7_300),
    Wait(36_000, 40_000, 50_001),
    Wait(6_000, 6_000, 6_000),
    Wait(6_100, 20_000, 50_000),
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", LANGUAGES)
async def test_everyone_can_use_every_face(
    stage: Stage, open_page: Open, scheme: str, lang: str
) -> None:
    """axe-core finds nothing serious, and each state has its heading and fits a phone at 200 %."""
    page = await open_page("about:blank", color_scheme=scheme)
    wrong: dict[str, list[str]] = {}
    for name, view in faces(lang):
        await page.set_viewport_size({"width": 390, "height": 844})
        await put(page, stage, view)
        violations = (await Axe().run(page)).response["violations"]
        wrong[name] = [
            violation["id"] for violation in violations if violation["impact"] in SERIOUS
        ]
        assert await heading(page)
        await page.set_viewport_size({"width": 195, "height": 422})
        if 195 < await page.evaluate("document.documentElement.scrollWidth"):
            wrong[name].append("too wide at 200 %")
    assert {} == {name: ids for name, ids in wrong.items() if ids}


@pytest.mark.sample(1)
@pytest.mark.parametrize("colour", ["#ffffff", "#000000", "#ffff00", "#777777", "#1a1e24"])
async def test_any_colour_can_be_read(stage: Stage, open_page: Open, colour: str) -> None:
    """The room's colour never costs contrast: it is for accents, with black or white on top."""
    for scheme in ("light", "dark"):
        page = await open_page("about:blank", color_scheme=scheme)
        for face in ("join", "called"):
            view = dict(faces())[face]
            await put(page, stage, replace(view, policy=POLICY.change(colour=colour)))
            violations = (await Axe().run(page)).response["violations"]
            ids = [violation["id"] for violation in violations if violation["impact"] in SERIOUS]
            assert (face, []) == (face, ids)


@pytest.mark.sample(1)
@pytest.mark.parametrize("scripts", [True, False], ids=["script", "plain"])
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
async def test_a_turn_is_celebrated(
    stage: Stage, open_page: Open, scripts: bool, motion: str
) -> None:
    """The whole card is green with large text; it only moves for people who allow motion."""
    page = await open_page("about:blank", reduced_motion=motion, java_script_enabled=scripts)
    green = "rgb(17, 107, 53)"
    await put(page, stage, dict(faces())["called"])
    await expect(page.locator("main")).to_have_css("background-color", green)
    style = "getComputedStyle(document.querySelector('.hooray'), '::before').animationName"
    assert ("none" if motion == "reduce" else "pop") == await page.evaluate(style)
    fold = await page.get_by_role("button", name="Enter now").bounding_box()
    assert fold is not None
    assert fold["y"] + fold["height"] < 844
    await put(page, stage, dict(faces())["waiting"])
    await expect(page.locator("main")).not_to_have_css("background-color", green)


@pytest.mark.sample(1)
@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_script_words_waits_as_the_server_does(
    stage: Stage, open_page: Open, lang: str
) -> None:
    """The server, before the script runs, and the script write the same text."""
    page = await open_page("about:blank")
    base = dict(faces(lang))["join"]
    for wait in WAITS:
        view = waiting(base, eta=wait)
        await put(page, stage, view)
        assert wait_words(words_of(lang), wait, view.position) == await text(page, "wait")
        assert view.place == await text(page, "place")
        assert view.behind == await text(page, "behind")
        assert view.ahead == await text(page, "ahead")


async def test_a_sound_and_a_notice_are_asked_for(stage: Stage, open_page: Open) -> None:
    """Nothing asks for permission by itself; the choice of sound is kept."""
    page = await open_page("about:blank")
    await page.add_init_script("Notification.requestPermission = async () => { window.asked = 1; }")
    view = dict(faces())["waiting"]
    await put(page, stage, view)
    assert await page.evaluate("window.asked === undefined")
    await page.get_by_role("button", name="Notify me").click()
    await page.wait_for_function("window.asked === 1")
    await page.get_by_label("Play a sound").check()
    await put(page, stage, view)
    await expect(page.get_by_label("Play a sound")).to_be_checked()


def moved(base: PageView, reason: str | None) -> PageView:
    """Return the page of somebody whose wait has moved."""
    view = waiting(base)
    return replace(view, eta_reason=reason, ticket={**(view.ticket or {}), "eta_reason": reason})


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_wait_that_moved_is_explained(
    stage: Stage, open_page: Open, lang: str, *, script: bool
) -> None:
    """The server and the script give the same reason, below the wait; none where there is none."""
    page = await open_page("about:blank", java_script_enabled=script)
    base = dict(faces(lang))["join"]
    note = page.locator("[data-x=note]")
    await put(page, stage, moved(base, None))
    await expect(note).to_be_hidden()
    for reason in Reason:
        await put(page, stage, moved(base, reason))
        await expect(note).to_be_visible()
        assert words_of(lang)(f"why_{reason}") == await text(page, "note")
