"""The rules of a room, stated a second time, to judge what the engine did.

The engine decides. The model reads what happened (plain reads of the keys, and the event stream)
and judges whether the rules allow every move: who may be called, who may enter, whose time is over,
who must still be in line. Where the engine is late on purpose (whole buckets, whole seconds), the
model states bounds. It knows no Lua, and the engine does not know the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tests.engine.state_machine.facts import FOREVER, Event, Facts, Person, Step, ms
from tests.engine.state_machine.policy_model import PolicyModel
from waitroom.models import Policy

ADMITTING = frozenset({"advance", "enter", "finish", "leave", "kick", "adopt"})
FROM_THE_HEAD = ADMITTING | {"admit"}


@dataclass(slots=True)
class Model(PolicyModel):
    """One room, followed through its history."""

    def person(self, ticket_id: str) -> Person:
        """Return the holder of a ticket; somebody new is out until they are seen in line."""
        return self.people.setdefault(ticket_id, Person(ticket_id, 0))

    def tick(self, now: int, before: Facts, behind: bool) -> None:
        """Pass time up to a call. `behind`: the caller has seen more than the server has."""
        policy, heard = self.policy, before.meta["alive_at"]
        assert now >= self.peak - 1000, "room time went back"
        assert not self.peak or self.now - heard <= 1000, "our own silence cannot be told"
        halves = (policy.presence_s, policy.enter_within_s, policy.return_s)
        quiet = min(ms(policy.recover_s), *(ms(span) // 2 for span in halves))
        if now - heard > max(5000, quiet) and (before.waiting or before.called):
            within = policy.enter_within_s
            for p in self.people.values():  # we were silent: nobody's turn ran out
                # The room may have been there for up to a second after the last sign of it.
                if p.state == "called" and p.until >= heard + 1000 and within is not None:
                    p.until = max(p.until, now + ms(within))
            self.resumed = now
            if now - heard > ms(policy.recover_s):
                self._hold(now, lost=behind or self.restoring_until > heard)
        self.now, self.peak = now, max(self.peak, now)
        if behind:
            self._hold(now, lost=True)

    def _hold(self, now: int, *, lost: bool) -> None:
        """Call nobody for a while; after a loss nobody is told a position either."""
        self.hold_until = max(self.hold_until, now + ms(self.policy.recover_s))
        if lost:
            self.restoring_until = self.hold_until

    def follow(self, step: Step, after: Facts, events: Iterable[Event]) -> None:
        """Judge everything that one call did, and adopt it."""
        events = list(events)
        self.counts.clear()
        dropped = {i for e in events if e.reason == "abandoned" for i in e.ids}
        given = {event.source for event in events if event.kind == "adopted"}
        for event in events:
            if step.verb == "settle" and event.reason != "abandoned":
                self._settled(step, event, after)
            elif event.kind == "called":
                self._called(step, event.ids, dropped, after)
            elif event.kind == "entered":
                for ticket_id in event.ids:
                    self._entered(step, ticket_id)
            elif event.kind == "adopted":
                self._adopted(step, self.person(event.ids[0]), self.person(event.source), after)
            elif event.kind == "ended" and given & set(event.ids):
                self.counts["left"] += 1  # as the model has heard already
            elif event.kind == "ended":
                self._ended(step, event, after)
            elif event.kind == "reinstated":
                self._reinstated(step, event.ids, after)
        for person in self.people.values():  # a failover had lost that a ban was lifted
            person.banned &= not person.reinstated or person.id in after.kicked
        for ticket_id, place in after.waiting.items():
            self._in_line(step, self.person(ticket_id), place)
        for person in self.people.values():  # too late: admission goes on after `recover_s`
            if person.lost and person.place <= after.meta["watermark"] and self._moves_on(step):
                person.state, person.why, person.lost = "out", "passed", False

    def _moves_on(self, step: Step) -> bool:
        """Whether this call may have raised the watermark: it called, or tidied an idle room."""
        return self.counts["called_total"] > 0 or step.verb == "advance"

    def _called(self, step: Step, ids: tuple[str, ...], dropped: set[str], after: Facts) -> None:
        self.counts["called_total"] += len(ids)
        line, free = [p for p in self.line() if p.id not in dropped], step.forced or self.bypass
        if step.verb in FROM_THE_HEAD:
            targets = [self.person(i) for i in ids if i in step.targets]
            back = [person.id for person in targets if person.state == "out" or person.lost]
            for i in back:  # restored by this very call
                self._arrive(step, self.person(i), self.person(i).place)
            line = [p for p in self.line() if p.id not in dropped]
            assert [p.id for p in line[: len(ids)]] == list(ids), (
                "not called from the head in order"
            )
            assert not any(self.absent(self.people[i], 1000) for i in ids), (
                "called an absent person"
            )
            passed = self.draws or after.meta["watermark"] >= line[len(ids) - 1].place
            assert passed, "the watermark stayed behind"
        elif step.verb == "call":
            assert self.people[ids[0]].state == "waiting", "called who did not wait"
        else:
            assert step.verb == "join", f"{step.verb} called somebody"
            assert not line, "a newcomer was called before those who wait"
            assert not self.refuses, "a refused newcomer was called"
            was = [self.person(i) for i in ids]
            assert not any(p.been and self.policy.once for p in was), "called, though it is once"
            self.counts["joined"] += 1
            for person in was:
                person.kicked, person.arrived = False, self.now
        for i in ids:
            person = self.person(i)
            waits = person.state == "waiting" and not person.lost
            assert waits or (step.verb == "join" and (person.state == "out" or person.lost)), (
                "twice"
            )
            person.state, person.why, person.lost = "called", "", False
            within = self.policy.enter_within_s
            person.until = FOREVER if within is None else self.now + ms(within)
        if not free:
            self._judge_limits(step)
        if self.policy.batch is not None and step.verb not in ("admit", "call"):
            self._judge_pace(step, len(ids), after.meta["slot_start"])

    def _judge_limits(self, step: Step) -> None:
        policy, by_hand = self.policy, step.verb in ("admit", "call")
        assert self.hold_until <= self.now, "called while admission holds"
        assert self.works if by_hand else self.calls, f"called in mode {self.mode}"
        called = self.live("called")
        if policy.capacity is not None:
            assert called + self.live("inside") <= policy.capacity, "more than capacity"
        if policy.max_entries is not None:
            reserved = self.entered_within(ms(policy.per_s)) + called
            assert reserved <= policy.max_entries, "called more than the rolling limit can take"

    def _judge_pace(self, step: Step, n: int, slot: int) -> None:
        policy = self.policy
        if slot != self.slot:
            assert slot - self.slot >= ms(policy.every_s), "a pace slot came too early"
            self.slot, self.slot_calls = slot, 0
        self.slot_calls += n
        direct = step.verb == "join" and policy.max_entries is not None
        if policy.batch is not None and not direct and not self.bypass:
            assert self.slot_calls <= policy.batch, "more than `batch` in one slot"

    def _entered(self, step: Step, ticket_id: str) -> None:
        person, policy = self.people[ticket_id], self.policy
        self.counts["entered"] += 1
        assert step.verb in ("enter", "join"), f"entered by {step.verb}"
        assert ticket_id in step.targets, "entered unasked"
        assert person.state == "called", "entered without being called"
        assert person.until > self.now, "entered after the deadline"
        self.entries.append(self.now)
        if policy.max_entries is not None and not self.bypass:
            inside = self.entered_within(ms(policy.per_s))
            assert inside <= policy.max_entries, f"{inside} entries in a window of {policy.per_s} s"
        person.state = "inside"
        person.been = person.been or policy.once
        spans = [span for span in (policy.session_s, policy.longest_s) if span is not None]
        person.until = self.now + ms(min(spans)) if spans else FOREVER

    def _ended(self, step: Step, event: Event, after: Facts) -> None:
        ids, reason = event.ids, event.reason
        self.counts[reason] += len(ids)
        for i in ids:
            person = self.people[i]
            was, over = person.state, person.until <= self.now
            if reason == "abandoned":
                assert was == "waiting", f"abandoned {was}"
                assert not self.rests, f"abandoned in a room that is {self.mode}"
                served = after.meta.get("rebuilt") and person.place <= after.meta["watermark"]
                assert served or self.absent(person), "somebody who is there was dropped"
            elif reason in ("no_show", "expired"):
                assert was == {"no_show": "called", "expired": "inside"}[reason], f"{reason}: {was}"
                assert over, f"{reason} before the deadline"
            else:
                assert i in step.targets, f"{reason} unasked"
                assert was != "out", f"{reason} twice"
                assert was == "waiting" or not over, f"{reason} after the deadline"
                assert was == "inside" or reason != "finished", f"finished {was}"
            person.state, person.why, person.forgiven = "out", reason, False
            person.swept = self.now

    def _adopted(self, step: Step, account: Person, ticket: Person, after: Facts) -> None:
        """An account took over a place: an earlier one, of the ticket that it showed."""
        assert (step.verb, step.targets) == ("adopt", frozenset([account.id, ticket.id])), (
            "adopted unasked"
        )
        rank, own = self.rank(ticket, step), self.rank(account, step)
        assert rank > 0, f"adopted the place of who is {ticket.why}"
        earlier = rank == own == 1 and ticket.place < account.place and not self.draws
        assert rank > own or earlier, "a later place was adopted"
        assert own > 0 or not account.banned, "adopted in spite of a ban"
        assert own > 0 or not (self.policy.once and account.been), "adopted, and was inside"
        if account.state == "out" or account.lost:
            self.counts["restored" if own else "joined"] += 1
        if ticket.state == "out" or ticket.lost:
            self.counts["restored"] += 1
        account.state = {1: "waiting", 2: "called", 3: "inside"}[rank]
        account.been = account.been or (rank == 3 and self.policy.once)
        account.until = ticket.until if rank > 1 else FOREVER
        account.why, account.lost, account.forgiven, account.adopted = "", False, False, True
        account.reinstated, account.settled = False, False
        if rank == 1:
            account.place = after.waiting.get(account.id, ticket.place)
            account.places.add(account.place)
        account.arrived, account.drew, account.moved = ticket.arrived, ticket.drew, True
        account.seen, account.reverted = self.now, account.reverted or ticket.reverted
        ticket.state, ticket.why, ticket.lost, ticket.forgiven = "out", "left", False, False

    def rank(self, person: Person, step: Step) -> int:
        """Return how far somebody is: inside, called, in line or able to come back, or nowhere."""
        if person.state in ("called", "inside"):
            return {"called": 2, "inside": 3}[person.state] if person.until > self.now else 0
        if person.state == "waiting" and not person.lost:
            return 1
        known = person.id in step.swept and person.why == "abandoned" and not self.overdue(person)
        shows = person.id not in step.nameless
        return int(known or (shows and (person.lost or person.forgiven)))

    def _settled(self, step: Step, event: Event, after: Facts) -> None:
        """Follow a record elsewhere, which respects no limits and needs no turn."""
        for i in event.ids:
            person = self.person(i)
            assert i in step.targets, f"{event.kind} unasked"
            here = person.state != "out" and not person.lost
            waited = here and person.state == "waiting"
            if event.kind == "ended":
                assert here, f"{event.reason} twice"
                self.counts[event.reason] += 1
                self.counts["called_total"] += waited and event.reason == "finished"
                person.state, person.why = "out", event.reason
            else:
                came = "restored" if here or i in step.recorded else "joined"
                self.counts[came] += not here or (event.kind == "placed" and not waited)
                within = self.policy.enter_within_s
                ends = event.kind == "called" and within is not None
                person.until = self.now + ms(within) if ends else FOREVER
                person.state, person.why = {"placed": "waiting"}.get(event.kind, event.kind), ""
                self.counts["called_total"] += event.kind == "called"
            if event.kind == "placed":
                person.place, person.seen = after.waiting[i], self.now
                person.arrived, person.moved, person.drew = person.place // 1000, True, self.draws
                person.settled = True
            person.lost = person.forgiven = False

    def _reinstated(self, step: Step, ids: tuple[str, ...], after: Facts) -> None:
        """An operator gave back a place that nobody else has, not ahead of what they are due."""
        (ticket_id,) = ids
        person, places = self.person(ticket_id), list(after.waiting.values())
        place = after.waiting[ticket_id]
        assert (step.verb, step.targets) == ("reinstate", frozenset([ticket_id])), (
            "reinstated unasked"
        )
        assert person.state == "out" or person.lost, f"reinstated who is {person.state}"
        assert not self.restoring, "reinstated in a line that lacks people"
        assert not person.banned or step.lifts, "reinstated in spite of a ban"
        assert places.count(place) == 1, "a place that somebody else has"
        assert place > after.meta["watermark"], "a place that has been called"
        if not person.places:
            assert step.forced or person.kicked, "conjured up"
            assert place == max(places), "a stranger overtakes"
        elif not person.reverted:
            assert place >= person.place, "further in front than before"
        self.counts["reinstated"] += 1
        person.state, person.why, person.lost, person.forgiven = "waiting", "", False, False
        person.banned, person.moved, person.reinstated = False, True, True
        person.kicked = False
        person.until, person.place, person.seen = FOREVER, place, self.now
        person.arrived = min(person.arrived or self.now, place // 1000, self.now)

    def _in_line(self, step: Step, person: Person, place: int) -> None:
        if person.state != "waiting" or person.lost:
            self._arrive(step, person, place)
        elif person.place != place:
            assert step.verb == "defer", f"a place was changed by {step.verb}"
            assert person.id in step.targets, "somebody else's place was changed"
            assert place > person.place, "deferred forward"
            self.counts["deferred"] += 1
            person.moved = True
        if step.verb in ("join", "poll", "defer", "enter", "adopt") and person.id in step.targets:
            person.seen = self.now if step.verb != "enter" or person.seen == 0 else person.seen
        person.place = place
        person.places.add(place)
        self.took(person)

    def took(self, person: Person) -> None:
        """Remember the highest place given; drawn ones separately."""
        if person.drew:
            self.drawn = max(self.drawn, person.place)
        else:
            self.highest = max(self.highest, person.place)

    def _arrive(self, step: Step, person: Person, place: int) -> None:
        assert person.id in step.targets, "somebody came back unasked"
        assert person.state in ("waiting", "out"), f"in line and {person.state}"
        person.seen = self.now
        back = person.lost or person.forgiven or person.why == "abandoned"
        drawn_again = (
            self.draws and step.verb == "join" and (person.id in step.nameless or not back)
        )
        # At the ticket's place, or just behind it if that is taken.
        same = any(had <= place < had + 8 for had in person.places)
        if same and not drawn_again:
            assert back, f"back in line after {person.why}"
            known = not person.lost and not person.forgiven
            assert not (known and self.overdue(person)), "back later than `return_s`"
            self.counts["restored"] += 1
            person.reverted = person.reverted or person.forgiven
        else:
            assert step.verb == "join", f"a new place by {step.verb}"
            assert not self.refuses, "a refused newcomer is in line"
            assert not (self.policy.once and person.been), "in line again, though it is once"
            assert self.draws or place > max(self.highest, self.drawn), "a newcomer overtakes"
            self.counts["joined"] += 1
            person.arrived, person.drew, person.reinstated = self.now, self.draws, False
            person.kicked = False
        person.state, person.why, person.lost, person.forgiven = "waiting", "", False, False
        person.until, person.place = FOREVER, place
        person.places.add(place)

    # Changes and losses ----------------------------------------------------------------------

    def change(self, policy: Policy, version: int, *, rested: bool | None = None) -> None:
        """Adopt a changed policy, which acts at once. `rested` is how it was before, if known."""
        rested = self.rests if rested is None else rested
        old, self.policy, self.version = self.policy, policy, version
        if rested and not self.rests:
            self.resumed = self.now  # nobody was swept meanwhile
        if old.return_s is None and policy.return_s is not None:
            self.resumed = self.now  # nobody knew that they had to be back by then
        if old.max_entries is None:
            self.limited_since = self.now
        if old.per_s != policy.per_s:
            self.vague_until = self.now + ms(policy.per_s or 0) + ms(old.per_s or 60) // 60 + 1000
        if old.max_entries is not None and ms(policy.per_s) > ms(old.per_s):
            # What the old window forgot counts as much as the old limit allowed.
            kept = [at for at in self.entries if at > self.now - ms(old.per_s)]
            spans = math.ceil((ms(policy.per_s) - ms(old.per_s)) / ms(old.per_s))
            before = self.entries[: len(self.entries) - len(kept)]
            self.entries = before[-old.max_entries * spans :] + kept

    def kicked(self, ids: Iterable[str], *, ban: bool) -> None:
        """Keep out people whom an operator has removed, even those who were not here."""
        for person in map(self.person, ids):
            person.state, person.why, person.banned, person.kicked = "out", "kicked", ban, True
            person.lost = person.forgiven = False

    def begin_again(self) -> None:
        """Follow the clock again: the room is empty, and nothing counts in room time."""
        self.now = self.peak = self.slot = self.slot_calls = self.resumed = 0
        self.hold_until = self.restoring_until = 0

    def cleared(self) -> None:
        """Remove everybody: tickets of the old epoch are worthless now."""
        for p in self.people.values():
            p.state, p.why, p.places = "out", "cleared", set()
            p.lost = p.forgiven = p.reverted = p.settled = p.reinstated = False
            p.been = p.adopted = False
        self.hold_until = self.restoring_until = 0

    def flushed(self, now: int) -> None:
        """Everything is lost and a process has restored the room: it holds from now on."""
        for p in self.people.values():
            p.forget()
        self.now = self.peak = self.resumed = now
        self.hold_until = self.restoring_until = now + ms(self.policy.recover_s)
        self.slot = self.slot_calls = self.drawn = 0
        self.entries.clear()

    def failed_over(self, current: Model) -> None:
        """Return to the replica's state after a failover that lost what `current` saw since."""
        for p in self.people.values():
            p.reverted = True
        for p in current.people.values():
            mine = self.people.get(p.id)
            if mine is None or (
                mine.state == "out" and (p.state == "waiting" or not p.places <= mine.places)
            ):
                # They joined in the lost second, perhaps again. Their ticket must bring them back,
                # or may, if they were called or gone by then.
                self.people[p.id] = p
                p.forget()
                p.banned = mine is not None and mine.banned  # as the replica has it
                p.been = mine is not None and mine.been
            else:
                mine.places |= p.places
                mine.seen = max(mine.seen, p.seen)
                mine.kicked = mine.kicked or p.kicked  # the engine that did it tells the room again
        self.highest = max(self.highest, current.highest)
        self.drawn = 0
