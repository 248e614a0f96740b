"""Everything that Waitroom raises on purpose.

    WaitroomError
    ├── InvalidInput            what the caller gave is wrong: `field` and what is allowed
    │   ├── InvalidRoomName
    │   ├── InvalidPolicy
    │   ├── InvalidTicket       empty, too long, not ours, forged, of another room
    │   └── InvalidPass         empty, forged, over, of another room, or not a pass at all
    ├── UnknownRoom             no room of that name
    ├── RoomExists              create, but the room exists
    ├── VersionConflict         the policy or store was changed by somebody else in between
    ├── CannotUndo              an action that cannot be undone, and what to do instead
    ├── Refused                 the room refuses, and `code` says why
    │   ├── RoomClosed, RoomEnded, RoomNotOpen,
    │   │   RoomFull, Banned, EnteredBefore,
    │   │   ChallengeRequired, IdentityRequired,
    │   │   ClaimRefused, CodeRequired, CodeRefused    join
    │   ├── NotYourTurn, TurnPassed, EnterLater   enter
    │   ├── SessionOver, NotRenewable             renew
    │   ├── CodeUsed                              redeem
    │   ├── NoPush                                subscribe to push messages
    │   ├── UnknownBatch, TooManyBatches          revoke, issue
    │   ├── DefersUsedUp, NobodyBehind            defer
    │   ├── NotWaiting                            defer, call
    │   ├── AlreadyHere, UnknownTicket,
    │   │   KeptElsewhere                         reinstate
    │   └── Holding, RoomPaused, NoCapacity       admit, call
    ├── DeskError               a restaurant's desk refuses, and nothing was written
    │   ├── UnknownStore, UnknownType, UnknownParty, StoreExists
    │   ├── StoreClosed, StorePaused, LineFull, PastClosing,
    │   │   PhoneInLine                                           join
    │   └── WrongStatus, PartyMoved                               call, seat, undo, …
    ├── Unauthorized            no API key, or one that is not (or no longer) known
    ├── Forbidden               the key's role does not allow it
    ├── TooMany                 too many calls from one address; `retry_after_s` says when again
    ├── UnknownKey              no API key or host key of that id
    ├── UnknownWebhook          no webhook of that id
    ├── BadRequest              the HTTP request itself is wrong: NotFound, MethodNotAllowed,
    │                           BodyTooLarge, HeadTooLarge, RequestTooSlow
    ├── BrokenRoom              a key of the room holds data of another type
    ├── UpgradeNeeded           the data was written by a newer Waitroom
    └── Unavailable             something that we depend on cannot be used at the moment
        ├── Busy                too many of our calls wait already; nothing was done
        ├── Slow                Redis or Valkey has not answered yet; what was asked may be done
        ├── BackendUnavailable  Redis or Valkey cannot be reached
        ├── BackendUnfit        reached, but must not be used as it is
        ├── BackendFull         its memory is full
        └── RecordUnavailable   the desk's database is away, locked for too long, or full

Every error has a stable `code` (for HTTP and `--json`) and a message of one sentence that names the
field and the remedy. Others import them from here; this package imports nothing else of ours.
"""

from waitroom.errors.access import Forbidden, TooMany, Unauthorized, UnknownKey, UnknownWebhook
from waitroom.errors.base import (
    InvalidInput,
    InvalidPass,
    InvalidPolicy,
    InvalidRoomName,
    InvalidTicket,
    WaitroomError,
)
from waitroom.errors.desk import (
    DeskError,
    LineFull,
    PartyMoved,
    PastClosing,
    PhoneInLine,
    StoreClosed,
    StoreExists,
    StorePaused,
    UnknownParty,
    UnknownStore,
    UnknownType,
    WrongStatus,
)
from waitroom.errors.http import (
    BadRequest,
    BodyTooLarge,
    HeadTooLarge,
    MethodNotAllowed,
    NotFound,
    RequestTooSlow,
)
from waitroom.errors.refused import (
    AlreadyHere,
    Banned,
    ChallengeRequired,
    ClaimRefused,
    CodeRefused,
    CodeRequired,
    CodeUsed,
    DefersUsedUp,
    EnteredBefore,
    EnterLater,
    Holding,
    IdentityRequired,
    KeptElsewhere,
    NobodyBehind,
    NoCapacity,
    NoPush,
    NotRenewable,
    NotWaiting,
    NotYourTurn,
    Refused,
    RoomClosed,
    RoomEnded,
    RoomFull,
    RoomNotOpen,
    RoomPaused,
    SessionOver,
    TooManyBatches,
    TurnPassed,
    UnknownBatch,
    UnknownTicket,
)
from waitroom.errors.rooms import (
    BrokenRoom,
    CannotUndo,
    RoomExists,
    UnknownRoom,
    UpgradeNeeded,
    VersionConflict,
)
from waitroom.errors.unavailable import (
    BackendFull,
    BackendUnavailable,
    BackendUnfit,
    Busy,
    RecordUnavailable,
    Slow,
    Unavailable,
)

__all__ = [
    "AlreadyHere",
    "BackendFull",
    "BackendUnavailable",
    "BackendUnfit",
    "BadRequest",
    "Banned",
    "BodyTooLarge",
    "BrokenRoom",
    "Busy",
    "CannotUndo",
    "ChallengeRequired",
    "ClaimRefused",
    "CodeRefused",
    "CodeRequired",
    "CodeUsed",
    "DefersUsedUp",
    "DeskError",
    "EnterLater",
    "EnteredBefore",
    "Forbidden",
    "HeadTooLarge",
    "Holding",
    "IdentityRequired",
    "InvalidInput",
    "InvalidPass",
    "InvalidPolicy",
    "InvalidRoomName",
    "InvalidTicket",
    "KeptElsewhere",
    "LineFull",
    "MethodNotAllowed",
    "NoCapacity",
    "NoPush",
    "NobodyBehind",
    "NotFound",
    "NotRenewable",
    "NotWaiting",
    "NotYourTurn",
    "PartyMoved",
    "PastClosing",
    "PhoneInLine",
    "RecordUnavailable",
    "Refused",
    "RequestTooSlow",
    "RoomClosed",
    "RoomEnded",
    "RoomExists",
    "RoomFull",
    "RoomNotOpen",
    "RoomPaused",
    "SessionOver",
    "Slow",
    "StoreClosed",
    "StoreExists",
    "StorePaused",
    "TooMany",
    "TooManyBatches",
    "TurnPassed",
    "Unauthorized",
    "Unavailable",
    "UnknownBatch",
    "UnknownKey",
    "UnknownParty",
    "UnknownRoom",
    "UnknownStore",
    "UnknownTicket",
    "UnknownType",
    "UnknownWebhook",
    "UpgradeNeeded",
    "VersionConflict",
    "WaitroomError",
    "WrongStatus",
]
