"""The words of the pages, in English and Korean."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

LANGUAGES = ("en", "ko")
_WORDS = {
    "site": ("Concert Hall", "콘서트홀"),
    "other": ("한국어", "English"),
    "home_title": ("Concerts", "공연"),
    "home_text": (
        "Choose an evening and a seat. When many people come at once, you wait in line in the "
        "order in which you came.",
        "날짜와 좌석을 고르세요. 한꺼번에 많은 분이 오시면 오신 순서대로 입장합니다.",
    ),
    "book": ("Book tickets", "예매하기"),
    "book_title": ("Choose an evening", "날짜 선택"),
    "free": ("{n} of {all} seats free", "{all}석 중 {n}석 남음"),
    "sold_out": ("sold out", "매진"),
    "map_title": ("Choose a seat", "좌석 선택"),
    "map_text": (
        "Tap a seat and it is held for you for {m} minutes. You may change your mind.",
        "좌석을 누르면 {m}분 동안 맡아 드립니다. 다른 좌석으로 바꿀 수 있습니다.",
    ),
    "stage": ("Stage", "무대"),
    "seat": ("Row {row}, seat {number}", "{row}열 {number}번"),
    "state_free": ("free", "예매 가능"),
    "state_held": ("held by somebody", "다른 분이 선택 중"),
    "state_mine": ("yours for now", "내가 선택함"),
    "state_sold": ("sold", "판매됨"),
    "go_on": ("Go on with {place}", "{place} 좌석으로 계속"),
    "hold_title": ("Seat {place} is yours for now", "{place} 좌석을 맡아 두었습니다"),
    "hold_left": ("Time left", "남은 시간"),
    "name": ("Name on the ticket", "예매자 이름"),
    "reserve": ("Reserve", "예약하기"),
    "pay_title": ("Pay for seat {place}", "{place} 좌석 결제"),
    "pay_text": (
        "This is a demonstration: no money moves. The card below works.",
        "시연용 사이트이며 실제로 결제되지 않습니다. 아래 카드 번호를 그대로 쓰세요.",
    ),
    "card": ("Card number", "카드 번호"),
    "pay": ("Pay {price}", "{price} 결제하기"),
    "done_title": ("Seat {place} is yours", "{place} 좌석 예매가 끝났습니다"),
    "done_text": (
        "Enjoy the evening, {name}. Your place on this site has gone to the next one in line.",
        "{name}님, 즐거운 관람 되세요. 사이트의 자리는 다음 대기자에게 넘겨 드렸습니다.",
    ),
    "order": ("Booking number", "예매 번호"),
    "price": ("Price", "가격"),
    "when": ("When", "일시"),
    "where": ("Where", "장소"),
    "again": ("Back to the concerts", "공연 목록으로"),
    "another": ("Choose another seat", "다른 좌석 고르기"),
    "leave": ("Leave without booking", "예매하지 않고 나가기"),
    "leave_title": ("You have left", "나가셨습니다"),
    "leave_text": (
        "Your place on this site has gone to the next one in line.",
        "사이트의 자리는 다음 대기자에게 넘겨 드렸습니다.",
    ),
    "not_there": ("There is no such page, or it is not yours.", "찾으시는 페이지가 없습니다."),
    "seat_held": (
        "Somebody was faster. The seat may become free again; choose another one meanwhile.",
        "다른 분이 먼저 선택했습니다. 다른 좌석을 골라 주세요.",
    ),
    "seat_sold": ("This seat has just been sold.", "방금 판매된 좌석입니다."),
    "hold_over": (
        "Your time for that seat is over. If it is still free, choose it again.",
        "선택 시간이 끝났습니다. 아직 남아 있다면 다시 선택해 주세요.",
    ),
    "card_declined": (
        "The bank declined this card. Your seat is still held; try another card.",
        "카드 결제가 거절되었습니다. 좌석은 그대로이니 다른 카드로 결제해 주세요.",
    ),
    "wrong_name": ("Please enter a name.", "이름을 입력해 주세요."),
    "wrong_card": ("Please enter a card number.", "카드 번호를 입력해 주세요."),
    "sorry": ("This did not work", "처리하지 못했습니다"),
}
NOTES = frozenset(
    ("seat_held", "seat_sold", "hold_over", "card_declined", "wrong_name", "wrong_card")
)
"""The messages that a page may show after a failed form."""

_DAYS = "월화수목금토일"


class Words:
    """One language: `words("seat", row="A", number=1)`."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        place = LANGUAGES.index(lang)
        self._words: Mapping[str, str] = MappingProxyType(
            {key: both[place] for key, both in _WORDS.items()}
        )

    def __call__(self, key: str, **values: object) -> str:
        """Return a sentence with its values filled in."""
        return self._words[key].format_map(values)

    def price(self, won: int) -> str:
        """Write an amount."""
        return f"{won:,}원" if self.lang == "ko" else f"₩{won:,}"

    def evening(self, at: datetime) -> str:
        """Write a date and its time."""
        if self.lang == "ko":
            return f"{at.year}년 {at.month}월 {at.day}일({_DAYS[at.weekday()]}) {at:%H:%M}"
        return f"{at:%A} {at.day} {at:%B %Y}, {at:%H:%M}"


def language(chosen: str | None, kept: str | None, accept: str) -> str:
    """Pick a language: the one clicked now, clicked before, or the browser's first choice."""
    for word in (chosen, kept):
        if word in LANGUAGES:
            return word
    asked = [tag.strip().lower()[:2] for tag in accept.split(",")[:20]]
    return next((word for word in asked if word in LANGUAGES), LANGUAGES[0])
