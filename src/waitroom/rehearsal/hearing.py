"""What the room's events say to people and to the promises: who was called, went in, or ended."""

from __future__ import annotations

from waitroom.models import Event, Reason
from waitroom.rehearsal.behaviour import Acts
from waitroom.rehearsal.crowd import SILENT, Crowd, Where
from waitroom.report.promises import Called, Promises

_WHERE_ENDED = {
    Reason.FINISHED: Where.FINISHED,
    Reason.EXPIRED: Where.EXPIRED,
    Reason.NO_SHOW: Where.NO_SHOW,
    Reason.LEFT: Where.GAVE_UP,
    Reason.KICKED: Where.NO_SHOW,
}


class Hearing:
    """Follows the events of one rehearsal."""

    def __init__(self, crowd: Crowd, promises: Promises[int], acts: Acts) -> None:
        self._crowd, self._promises, self._acts = crowd, promises, acts
        self.by_hand = False
        """Whether those who are called now are called by hand."""

    def hear(self, event: Event) -> None:
        """Move the people of an event, and have it judged."""
        people, at_ms = [int(id_) for id_ in event.ids], event.at_us // 1000
        if event.kind == "called":
            self._hear_called(people, at_ms)
        elif event.kind == "entered":
            for person in people:
                self._crowd.move(person, Where.INSIDE)
                self._promises.on_entered(person, at_ms)
        elif event.kind == "ended" and event.reason is not None:
            self._hear_ended(people, at_ms, event.reason)

    def _hear_called(self, people: list[int], at_ms: int) -> None:
        crowd, direct = self._crowd, self._acts.direct
        for person in people:
            crowd.move(person, Where.CALLED)
            crowd.called_ms[person] = at_ms
        places = [crowd.place[person] for person in people]
        event = Called(at_ms, people, people[0] in direct, self.by_hand)
        direct.difference_update(people)
        self._promises.on_called(event, places)
        self._acts.react(people)

    def _hear_ended(self, people: list[int], at_ms: int, reason: Reason) -> None:
        self._promises.on_ended(people, at_ms, reason)
        crowd = self._crowd
        for person in people:
            crowd.sids.pop(person, None)
            if reason is not Reason.ABANDONED:
                crowd.move(person, _WHERE_ENDED[reason])
                continue
            self._check_silence(person, at_ms)
            silent = crowd.habits[person] & SILENT
            crowd.move(person, Where.GAVE_UP if silent else Where.DROPPED)

    def _check_silence(self, person: int, at_ms: int) -> None:
        """Check that nobody is dropped who was seen within `presence_s`."""
        policy, crowd = self._acts.policy, self._crowd
        silent_s = (at_ms - crowd.seen_ms[person]) / 1000
        old_s = (at_ms - crowd.joined_ms[person]) / 1000
        if policy.presence_s is not None and silent_s > policy.presence_s:
            return
        if policy.ticket_ttl_s is not None and old_s > policy.ticket_ttl_s:
            return
        broken = f"person {person} was dropped as absent, seen {silent_s:g} s before"
        self._promises.nobody_lost.breaks(at_ms, broken)

    def judge_suspects(self, now_ms: int) -> None:
        """Check that the events explain why somebody's ticket was unknown to the room."""
        crowd, acts = self._crowd, self._acts
        for person, word in acts.suspects:
            where = crowd.where[person]
            if where == Where.DROPPED or (where == Where.CALLED and person in acts.sent_back):
                acts.sent_back.discard(person)
                crowd.move(person, Where.MISSED)
            elif where == Where.WAITING or (
                where == Where.CALLED and person in self._promises.called
            ):
                broken = f"person {person} waited in good order and was told {word!r}"
                self._promises.nobody_lost.breaks(now_ms, broken)
                crowd.move(person, Where.LOST)
                self._promises.called.pop(person, None)
            elif where == Where.CALLED:
                crowd.move(person, Where.NO_SHOW)
        acts.suspects.clear()
