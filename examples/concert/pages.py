"""The pages, rendered on the server. They work without JavaScript; with it the seat map is live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Cookie, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import TypeAdapter, ValidationError

from .api import VISITOR, Card, Code, Desk, Name, Number, Visitor
from .problems import BookingError, CardDeclined, HoldOver, NotThere
from .words import LANGUAGES, NOTES, Words, language

LANG = "concert-lang"
_YEAR_S = 365 * 86_400
_name: TypeAdapter[str] = TypeAdapter(Name)
_card: TypeAdapter[str] = TypeAdapter(Card)
router = APIRouter(include_in_schema=False)
templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
Text = Annotated[str, Form(max_length=200)]
Note = Annotated[str | None, Query(alias="no", max_length=20)]
Known = Annotated[str | None, Cookie(alias=VISITOR, max_length=64)]


class Elsewhere(Exception):
    """Redirect the browser to another page, with the reason."""

    def __init__(self, path: str, why: str) -> None:
        self.url = f"{path}?no={why}"


@router.get("/")
def home(request: Request, desk: Desk) -> Response:
    """Show the concerts, to everybody."""
    return _page(request, "home.html", concerts=desk.concerts())


@router.get("/book")
def evenings(request: Request, desk: Desk) -> Response:
    """Show the evenings of all concerts."""
    concerts = [(concert, desk.dates(concert.id)) for concert in desk.concerts()]
    return _page(request, "evenings.html", concerts=concerts)


@router.get("/book/dates/{date}")
def seats(request: Request, desk: Desk, date: Number, known: Known = None, no: Note = None) -> Any:
    """Show the seat map of an evening."""
    concert, evening = desk.date(date)
    rows: dict[str, list[Any]] = {}
    for seat in desk.seats(date, known):
        rows.setdefault(seat.row, []).append(seat)
    mine = next((seat for row in rows.values() for seat in row if seat.state == "mine"), None)
    minutes = f"{request.app.state.site.hold_s / 60:g}"
    return _page(
        request, "seats.html", no, concert=concert, date=evening, rows=rows, mine=mine, m=minutes
    )


@router.post("/book/dates/{date}")
def hold(
    request: Request, desk: Desk, visitor: Visitor, date: Number, seat: Annotated[int, Form(ge=1)]
) -> Response:
    """Hold the seat that was tapped."""
    _must_be_ours(request)
    try:
        desk.hold(seat, visitor)
    except NotThere:
        raise
    except BookingError as error:
        raise Elsewhere(f"/book/dates/{date}", error.code) from None
    response = _to(f"/book/seats/{seat}")
    _know(request, response, visitor)
    return response


@router.get("/book/seats/{seat}")
def held_seat(
    request: Request, desk: Desk, visitor: Visitor, seat: Number, no: Note = None
) -> Response:
    """Ask for the name on the ticket."""
    try:
        view, date, until = desk.held_seat(seat, visitor)
    except HoldOver as error:
        raise Elsewhere("/book", error.code) from None
    return _page(request, "held.html", no, seat=view, date=date, until=until.until)


@router.post("/book/seats/{seat}")
def reserve(
    request: Request, desk: Desk, visitor: Visitor, seat: Number, name: Text = ""
) -> Response:
    """Put the seat in that name."""
    _must_be_ours(request)
    given = _checked(_name, name, f"/book/seats/{seat}", "wrong_name")
    try:
        made = desk.reserve(seat, visitor, given)
    except HoldOver as error:
        raise Elsewhere("/book", error.code) from None
    return _to(f"/book/reservations/{made.reservation}")


@router.get("/book/reservations/{reservation}")
def reserved(
    request: Request, desk: Desk, visitor: Visitor, reservation: Code, no: Note = None
) -> Response:
    """Ask for the card."""
    order = desk.reservation(reservation, visitor)
    if order.paid_at is not None:
        return _to(f"/orders/{reservation}")
    return _page(request, "reserved.html", no, order=order)


@router.post("/book/reservations/{reservation}")
def pay(
    request: Request, desk: Desk, visitor: Visitor, reservation: Code, card: Text = ""
) -> Response:
    """Pay, and go to the receipt, where the gate ends the visit."""
    _must_be_ours(request)
    here = f"/book/reservations/{reservation}"
    given = _checked(_card, card.strip(), here, "wrong_card")
    try:
        desk.pay(reservation, visitor, given)
    except CardDeclined as error:
        raise Elsewhere(here, error.code) from None
    except HoldOver as error:
        raise Elsewhere("/book", error.code) from None
    return _to(f"/orders/{reservation}")


@router.get("/orders/{reservation}", response_model=None)
def order(request: Request, desk: Desk, reservation: Code) -> Response | dict[str, Any]:
    """Show what was bought. It stays readable after the visit, to anybody who has its address."""
    order = desk.order(reservation)
    if "json" in request.headers.get("accept", ""):
        return {name: getattr(order, name) for name in order.__dataclass_fields__}
    return _page(request, "order.html", order=order)


@router.get("/goodbye")
def goodbye(request: Request) -> Response:
    """Let somebody leave without booking; here, too, the gate ends the visit."""
    return _page(request, "goodbye.html")


def sorry(request: Request, error: BookingError) -> Response:
    """Show what went wrong."""
    response = _page(request, "sorry.html", code=error.code)
    response.status_code = error.status
    return response


async def led_back(_: Request, why: Exception) -> Response:
    """Follow `Elsewhere`."""
    assert isinstance(why, Elsewhere)  # noqa: S101 - for mypy; the handler is for these
    return _to(why.url)


def _page(request: Request, template: str, no: str | None = None, **values: Any) -> Response:
    chosen = request.query_params.get("lang")
    accept = request.headers.get("accept-language", "")
    words = Words(language(chosen, request.cookies.get(LANG), accept))
    other = LANGUAGES[1 - LANGUAGES.index(words.lang)]
    note = words(no) if no in NOTES else None
    html = templates.get_template(template).render(
        t=words, note=note, other=f"{request.url.path}?lang={other}", **values
    )
    response = Response(html, headers=_headers(request, words.lang))
    if chosen in LANGUAGES:
        response.set_cookie(LANG, words.lang, max_age=_YEAR_S, httponly=True, samesite="lax")
    return response


def _headers(request: Request, lang: str) -> dict[str, str]:
    # Browsers check the redirect after a form against `form-action`: if the session has ended, a
    # form leads to the waiting page.
    page = urlsplit(request.app.state.site.page or "")
    waiting = f" {page.scheme}://{page.netloc}" if page.netloc else ""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src 'self'; form-action 'self'{waiting}; base-uri 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    return {
        "content-type": "text/html; charset=utf-8",
        "content-language": lang,
        "content-security-policy": policy,
        "cache-control": "no-store",
        "vary": "Accept-Language, Cookie",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
    }


def _must_be_ours(request: Request) -> None:
    """Refuse a form that another site has sent; browsers say where from."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site not in ("same-origin", "none"):
        raise NotThere


def _checked(kind: TypeAdapter[str], text: str, here: str, why: str) -> str:
    try:
        return kind.validate_python(text)
    except ValidationError:
        raise Elsewhere(here, why) from None


def _to(path: str) -> Response:
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def _know(request: Request, response: Response, visitor: str) -> None:
    """Set a newcomer's cookie: FastAPI drops it if we return our own response."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        VISITOR, visitor, max_age=86_400, httponly=True, samesite="lax", secure=secure
    )
