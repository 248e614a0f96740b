"""`waitroom desk store`: create, list and change stores."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from waitroom.cli.command import IfVersion, Session, command, group, option
from waitroom.cli.desk.group import StoreId, open_lines, open_record
from waitroom.cli.output import table
from waitroom.cli.text import NONE, number
from waitroom.errors import InvalidInput

if TYPE_CHECKING:
    from waitroom.desk.models import Store, WaitingType

app = typer.Typer(name="store")
_MODES = "open, paused or closed"
Title = Annotated[str | None, option("Its name, as guests read it.", "TEXT")]
Types = Annotated[
    list[str] | None,
    option(
        "A line of it, like takeout=Takeout; several times for several. A known one is kept.",
        "NAME[=TITLE]",
        "--type",
    ),
]
TimeZone = Annotated[str | None, option("Decides its day, like Asia/Seoul.", "ZONE")]
Country = Annotated[
    str | None, option("Of phone numbers without a country code, like KR or US.", "CODE")
]
Mode = Annotated[str | None, option(f"{_MODES}.".capitalize(), "WORD")]
Reason = Annotated[str | None, option("Why it is paused or closed, for guests.", "TEXT")]
ClosesAt = Annotated[str | None, option("Nobody joins whose wait passes it; or none.", "HH:MM")]
QueueLimit = Annotated[
    str | None, option("Most parties that wait; or none. Of --type, else of all.")
]
LargestParty = Annotated[int | None, option("Most people in a party. As --queue-limit.")]
MaxDefers = Annotated[int | None, option("How often a guest may let others go first.")]
Remote = Annotated[
    bool | None,
    typer.Option("--remote/--no-remote", help="Whether guests may join from elsewhere."),
]
OnSiteWord = Annotated[
    str | None, option("How guests show that they are there: none, poster or rotating.", "WORD")
]
JoinsPerHour = Annotated[str | None, option("Most that join from one address; or none.")]
KeepPhones = Annotated[int | None, option("Then phones are deleted.", "DAYS", "--keep-phones-days")]
WebhookUrl = Annotated[str | None, option("Where guests' notices are sent; or none.", "URL")]
NewSecret = Annotated[bool, typer.Option("--new-secret", help="Make a new secret of the webhook.")]


@group(app)
def _about() -> None:
    """Create, list and change stores.

    Example:

      waitroom desk store create han-river --title "Han River Noodles"
      waitroom desk store set han-river --mode paused
    """


@command(app)
async def create(
    cli: Session,
    store_id: StoreId,
    title: Title = None,
    types: Types = None,
    time_zone: TimeZone = None,
    country: Country = None,
    closes_at: ClosesAt = None,
    queue_limit: QueueLimit = None,
    largest_party: LargestParty = None,
    max_defers: MaxDefers = None,
    remote: Remote = None,
    on_site: OnSiteWord = None,
    joins_per_hour: JoinsPerHour = None,
    keep_phones_days: KeepPhones = None,
    webhook_url: WebhookUrl = None,
) -> None:
    """Create a store, with one line (dine-in) unless you name others.

    With a webhook, its secret is made and shown once.

    Example:

      waitroom desk store create han-river --title "Han River Noodles" --closes-at 22:00
      waitroom desk store create cafe --type dine-in=Table --type takeout=Takeout
    """
    async with open_record(cli) as database:
        from waitroom.desk.models import Store
        from waitroom.desk.record.record import Record
        from waitroom.operations import stores

        given = _given(
            time_zone, country, None, None, closes_at, max_defers, remote, keep_phones_days
        )
        given |= _doors(on_site, joins_per_hour)
        secret = _webhook(given, webhook_url, None, new=False)
        lines = [_line(text, ()) for text in types or ("dine-in=Dine in",)]
        given["types"] = _limited(lines, [line.name for line in lines], queue_limit, largest_party)
        store = Store(id=store_id, title=title or store_id, **given)
        made = await stores.create(Record(database), cli.late_trail(), store)
    cli.out.show(
        document(made) | ({"webhook_secret": secret} if secret else {}),
        f"Created store {made.id}, {_names(made)}.",
        *_told(secret),
        f"\nGuests join at /desk/{made.id}, the poster is /desk/{made.id}/poster, hosts sign in at "
        f"/desk/{made.id}/host\nwith a key of `waitroom desk host create {made.id} "
        '--name "front tablet"`. Serve it with `waitroom serve --desk true`.',
    )


@command(app, "list")
async def list_(cli: Session) -> None:
    """List all stores.

    Example:

      waitroom desk store list
    """
    async with open_record(cli) as database:
        from waitroom.desk.notify.outbox import Outbox
        from waitroom.desk.record.record import Record

        stores = await Record(database).stores()
        late = await Outbox(database).late()
    lines = table("store", "title", "lines", "mode", "closes", "webhook", "version")
    for store in stores:
        hook = "yes" if store.webhook_url else NONE
        waiting = f"{hook}, {number(late[store.id])} late" if store.id in late else hook
        closes = store.closes_at or NONE
        lines.add_row(
            store.id, store.title, _names(store), store.mode, closes, waiting, str(store.version)
        )
    empty = "There are no stores yet; make one with `waitroom desk store create NAME`."
    documents = [document(store) | {"notices_late": late.get(store.id, 0)} for store in stores]
    cli.out.show({"stores": documents}, lines if stores else empty)


@command(app, "set")
async def set_(
    cli: Session,
    store_id: StoreId,
    title: Title = None,
    types: Types = None,
    time_zone: TimeZone = None,
    country: Country = None,
    mode: Mode = None,
    reason: Reason = None,
    closes_at: ClosesAt = None,
    queue_limit: QueueLimit = None,
    largest_party: LargestParty = None,
    max_defers: MaxDefers = None,
    remote: Remote = None,
    on_site: OnSiteWord = None,
    joins_per_hour: JoinsPerHour = None,
    keep_phones_days: KeepPhones = None,
    webhook_url: WebhookUrl = None,
    new_secret: NewSecret = False,
    if_version: IfVersion = None,
) -> None:
    """Change a store, at once; whoever waits keeps their place.

    With --type, limits are those of that line, and a line that is new is added.

    Example:

      waitroom desk store set han-river --mode paused --reason "Back at 18:00"
      waitroom desk store set han-river --type takeout=Takeout --queue-limit 30
      waitroom desk store set han-river --webhook-url https://sms.example/waitroom
    """
    async with open_lines(cli) as desk:
        from waitroom.operations import stores

        old = await desk.record.store(store_id)
        given = _given(
            time_zone, country, mode, reason, closes_at, max_defers, remote, keep_phones_days
        )
        given |= _doors(on_site, joins_per_hour)
        given |= {} if title is None else {"title": title}
        secret = _webhook(given, webhook_url, old, new=new_secret)
        lines = _changed(old, types, queue_limit, largest_party)
        given |= {} if lines == old.types else {"types": lines}
        if not given:
            raise InvalidInput("options", "give at least one to change, like `--mode paused`")
        made = await stores.change(desk, cli.trail(desk.engine), old, given, if_version)
    cli.out.show(
        document(made) | ({"webhook_secret": secret} if secret else {}),
        f"Store {made.id} is now at version {made.version}.",
        *_told(secret),
    )


def document(store: Store) -> dict[str, Any]:
    """Return a store as JSON, without its secrets."""
    fields = dataclasses.asdict(store)
    del fields["webhook_secret"]
    return fields


def _given(
    time_zone: str | None,
    country: str | None,
    mode: str | None,
    reason: str | None,
    closes_at: str | None,
    max_defers: int | None,
    remote: bool | None,
    keep_phones_days: int | None,
) -> dict[str, Any]:
    from waitroom.desk.models import StoreMode

    if mode is not None and mode not in [*StoreMode]:
        raise InvalidInput("mode", f"{mode!r:.40} is not {_MODES}")
    values = {
        "time_zone": time_zone,
        "country": country,
        "mode": None if mode is None else StoreMode(mode),
        "max_defers": max_defers,
        "remote": remote,
        "keep_phones_days": keep_phones_days,
    }
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    removable = {"reason": reason, "closes_at": closes_at}
    return given | {name: _or_none(value) for name, value in removable.items() if value is not None}


def _doors(on_site: str | None, joins_per_hour: str | None) -> dict[str, Any]:
    """Return the settings that say who may join by themselves."""
    given: dict[str, Any] = {} if on_site is None else {"on_site": on_site}
    if joins_per_hour is not None:
        given["joins_per_hour"] = _count("joins_per_hour", joins_per_hour)
    return given


def _or_none(value: str) -> str | None:
    return None if value == "none" else value


def _webhook(given: dict[str, Any], url: str | None, old: Store | None, *, new: bool) -> str | None:
    """Add the changes of the webhook; return its secret if that is new."""
    if url is not None:
        given["webhook_url"] = _or_none(url)
    address = given.get("webhook_url", old.webhook_url if old else None)
    if new and address is None:
        raise InvalidInput("new_secret", "there is no webhook; give --webhook-url too")
    if address is None or not (new or old is None or old.webhook_secret is None):
        return None
    from waitroom.events.signing import new_secret  # its package comes with the desk's

    given["webhook_secret"] = new_secret()
    return str(given["webhook_secret"])


def _line(text: str, known: tuple[WaitingType, ...]) -> WaitingType:
    """Return the line of NAME or NAME=TITLE; a known line keeps its other settings."""
    from waitroom.desk.models import WaitingType

    name, _, title = text.partition("=")
    old = next((line for line in known if line.name == name), None)
    if old is None:
        return WaitingType(name=name, title=title or name)
    return dataclasses.replace(old, title=title or old.title)


def _changed(
    store: Store, types: list[str] | None, queue_limit: str | None, largest: int | None
) -> tuple[WaitingType, ...]:
    """Return the lines of a store after a change of the named ones, or of all."""
    named = [_line(text, store.types) for text in types or ()]
    both = {line.name: line for line in (*store.types, *named)}
    names = [line.name for line in named] or list(both)
    return _limited(list(both.values()), names, queue_limit, largest)


def _limited(
    lines: list[WaitingType], names: list[str], queue_limit: str | None, largest: int | None
) -> tuple[WaitingType, ...]:
    changes: dict[str, Any] = {} if largest is None else {"largest_party": largest}
    if queue_limit is not None:
        changes["queue_limit"] = _count("queue_limit", queue_limit)
    return tuple(
        dataclasses.replace(line, **changes) if line.name in names else line for line in lines
    )


def _count(name: str, text: str) -> int | None:
    if text == "none":
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InvalidInput(name, f"{text!r:.40} is neither a whole number nor none")
    return int(text[:12])


def _names(store: Store) -> str:
    return ", ".join(line.name for line in store.types)


def _told(secret: str | None) -> list[str]:
    if secret is None:
        return []
    return [
        "\nThe secret of its webhook, with which your receiver checks what it gets:\n",
        secret,
        "\nSave it now: it is not shown again.",
    ]
