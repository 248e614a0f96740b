"""All routers of this face, in the order of the API document."""

from __future__ import annotations

from waitroom.server.operator import sign_in
from waitroom.server.operator.codes import api as codes_api
from waitroom.server.operator.codes import pages as code_pages
from waitroom.server.operator.history import audit, events, past, report, series, timeline
from waitroom.server.operator.keys import api as keys_api
from waitroom.server.operator.keys import pages as key_pages
from waitroom.server.operator.levers import routes as levers
from waitroom.server.operator.overview import routes as overview
from waitroom.server.operator.people import api as people_api
from waitroom.server.operator.people import person, search, tickets
from waitroom.server.operator.room import notes
from waitroom.server.operator.room import routes as room
from waitroom.server.operator.rooms import api as rooms_api
from waitroom.server.operator.rooms import forms as room_forms
from waitroom.server.operator.webhooks import api as webhooks_api
from waitroom.server.operator.webhooks import pages as webhook_pages

_API = (rooms_api, people_api, codes_api, series, events, keys_api, webhooks_api)
_PAGES = (
    *(sign_in, overview, room, levers, room_forms, tickets, search, person),
    *(code_pages, key_pages, webhook_pages, timeline, report),
)
_BOTH = (notes, past, audit)
ROUTERS = (
    *(part.router for part in _API),
    *(part.api for part in _BOTH),
    *(part.router for part in _PAGES),
    *(part.pages for part in _BOTH),
)
