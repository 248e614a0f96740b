"""Requests to the operator API that several tests make."""

from __future__ import annotations

from typing import Any

import httpx2


def join(http: httpx2.Client, room: str, people: int) -> list[dict[str, Any]]:
    """Make people join, one after another."""
    views = []
    for _ in range(people):
        answer = http.post(f"/v1/rooms/{room}/tickets")
        assert 201 == answer.status_code, answer.text
        views.append(answer.json())
    return views


def at(room: str, rest: str = "") -> str:
    """Return the path of a room."""
    return f"/v1/admin/rooms/{room}{rest}"


def listed(operator: httpx2.Client, room: str, state: str = "waiting") -> list[str]:
    """Return the ids of the people in a state."""
    answer = operator.get(at(room, "/tickets"), params={"state": state})
    return [ticket["id"] for ticket in answer.json()["tickets"]]


def log(operator: httpx2.Client, room: str) -> list[dict[str, Any]]:
    """Return what was done to a room, newest first."""
    entries: list[dict[str, Any]] = operator.get("/v1/admin/audit", params={"room": room}).json()[
        "entries"
    ]
    return entries
