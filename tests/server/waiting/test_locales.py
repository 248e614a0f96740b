"""A server with an operator's locale files."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2

from tests.support.serving import serving


def test_the_pages_of_an_operator_with_languages_of_their_own(tmp_path: Path) -> None:
    """Added languages and changed texts are on the page, right to left where needed."""
    folder = tmp_path / "locales"
    folder.mkdir()
    files = {"ar": {"unknown_title": "لا يوجد طابور"}, "ko": {"unknown_title": "줄이 없어요"}}
    for tag, words in files.items():
        (folder / f"{tag}.json").write_text(json.dumps(words), "utf-8")
    with (
        serving(tmp_path, locales=folder) as server,
        httpx2.Client(base_url=server.base, timeout=60, follow_redirects=True) as http,
    ):
        arabic = http.get("/rooms/none", headers={"accept-language": "ar-EG, ko;q=0.5"})
        assert "ar" == arabic.headers["content-language"]
        assert '<html lang="ar" dir="rtl">' in arabic.text
        assert "لا يوجد طابور" in arabic.text
        assert "Please check the link" in arabic.text  # missing in the file
        assert "줄이 없어요" in http.get("/rooms/none?lang=ko-KR").text
        console = http.get("/admin", headers={"accept-language": "ar, ko;q=0.5"})
        assert "ko" == console.headers["content-language"]
