"""The words of Waitroom as types: states, policies, presets and answers. Others import them here.

Pure: nothing here does I/O. Times are integers with their unit in the name; `_ms` and `_us` are
Unix time.
"""

from waitroom.models.codes import LONGEST_CODE_NOTE, CodeBatch
from waitroom.models.events import Event, EventPage
from waitroom.models.fields import CHOICES
from waitroom.models.people import (
    MEMBERS_PER_SCRIPT,
    Advanced,
    Listed,
    Page,
    Person,
    Reinstated,
    TicketView,
)
from waitroom.models.policy import MOMENTS, POLICY_FIELDS, Policy
from waitroom.models.presets import PRESETS, preset
from waitroom.models.rooms import ROOM_NAME, PolicyChange, Room, check_room_name
from waitroom.models.stats import Sample, Stats
from waitroom.models.words import (
    BeforeOpen,
    Challenge,
    Eta,
    Mode,
    Needs,
    Reason,
    State,
    WhenAway,
    WhenUnverified,
)

__all__ = [
    "CHOICES",
    "LONGEST_CODE_NOTE",
    "MEMBERS_PER_SCRIPT",
    "MOMENTS",
    "POLICY_FIELDS",
    "PRESETS",
    "ROOM_NAME",
    "Advanced",
    "BeforeOpen",
    "Challenge",
    "CodeBatch",
    "Eta",
    "Event",
    "EventPage",
    "Listed",
    "Mode",
    "Needs",
    "Page",
    "Person",
    "Policy",
    "PolicyChange",
    "Reason",
    "Reinstated",
    "Room",
    "Sample",
    "State",
    "Stats",
    "TicketView",
    "WhenAway",
    "WhenUnverified",
    "check_room_name",
    "preset",
]
