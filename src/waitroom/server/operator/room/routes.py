"""The page of one room: its numbers, levers and charts, as they are now."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from waitroom.credentials.roles import Role
from waitroom.models import Mode, check_room_name
from waitroom.server.context import Here
from waitroom.server.operator.levers import forms
from waitroom.server.operator.levers.undo import last_change, remedy
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.room import chart
from waitroom.server.operator.room import view as room_view
from waitroom.server.operator.room.kept_wait import last_wait

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


@router.get("/rooms/{room}")
async def one_room(
    server: Here,
    request: Request,
    room: str,
    done: Annotated[str | None, Query(max_length=40)] = None,
    live: bool = False,
    drawn: bool = True,
    draft: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show a room; with `live` only the parts that change, and `drawn=0` leaves the charts out.

    `draft` puts one of our ready messages into the form, to be edited and sent.
    """
    page = await Page.of(server, request)
    board = await room_view.fresh(server, check_room_name(room))
    view = room_view.view(board, server.backend_health.away)
    values: dict[str, Any] = {"room": view, "charts": (), "rows": (), "modes": list(Mode)}
    values["kept"] = await last_wait(server.engine, room, view.stats.now_ms)
    if drawn:
        since = view.stats.now_ms - chart.SPAN_MS
        samples = await server.engine.series(room, since_ms=since, limit=chart.MOST)
        points = chart.points(samples)
        values |= {"charts": chart.charts(points, view.stats.now_ms), "rows": chart.rows(points)}
    values["last"] = await last_change(server, room, view.version, page.who.key.role)
    values["done"] = await server.audit.get(done) if done else None
    if live:
        return page.html("operator/room/live.html", **values)
    log = await server.audit.page(room=room, limit=5)
    admin = page.who.key.role is Role.ADMIN
    values |= forms.values(page.text, view.policy, admin=admin, draft=draft)
    values["usual_range"] = not {"range", "since"} & set(request.query_params)
    return page.html("operator/room/page.html", log=log.entries, remedy=remedy, **values)
