"""Proofs of work: what is solved is accepted, and nothing else."""

from __future__ import annotations

import base64
import copy
import json
import time
from collections.abc import Callable
from typing import Any

import altcha.v2
import pytest

from waitroom import work as solver
from waitroom.server.challenges.price import FLOOR, GRACE_MS, Price
from waitroom.server.challenges.work import LIFE_S, Binding, Unsolved, Work, binding, derived_key
from waitroom.tickets import KeyRing

RING = KeyRing([b"only-for-tests-" * 3])
HERE = binding(RING, "concert", "192.0.2.1", "192.0.2.0/24")
EASY = 20
CHEAP = Price(EASY, EASY)
Payload = dict[str, Any]


@pytest.fixture
def work() -> Work:
    """Return what a server has."""
    return Work(RING)


def payload(solution: str) -> Payload:
    """Read a solution."""
    read: Payload = json.loads(base64.b64decode(solution))
    return read


def text(read: Payload) -> str:
    """Write a solution."""
    return base64.b64encode(json.dumps(read).encode()).decode()


def altchas(sent: str) -> bool:
    """Return what ALTCHA's own check says of a solution."""
    secret, key_secret = derived_key(RING, "challenge"), derived_key(RING, "solution")
    return altcha.v2.verify_solution(sent, secret, hmac_key_secret=key_secret).verified


def test_a_solution_is_accepted(work: Work) -> None:
    """Its nonce names whoever solved it, each time; another server with the ring agrees."""
    challenge = json.loads(work.issue(HERE, EASY))
    solution = solver.solve(challenge)
    nonces = {server.nonce(solution, HERE, CHEAP) for server in (work, work, Work(RING))}
    assert {challenge["parameters"]["nonce"]} == nonces


def test_it_is_altchas_format(work: Work) -> None:
    """ALTCHA's own solver solves our challenges, and we take what it sends."""
    issued = altcha.v2.Challenge.from_dict(json.loads(work.issue(HERE, EASY)))
    solution = altcha.v2.solve_challenge(issued)
    assert solution is not None
    sent = altcha.v2.Payload(issued, solution).to_base64()
    assert issued.parameters.nonce == work.nonce(sent, HERE, CHEAP)


def test_what_is_signed_is_canonical(work: Work) -> None:
    """The parameters are sent as ALTCHA writes what it signs: sorted, and without blanks."""
    issued = work.issue(HERE, EASY)
    parameters = json.loads(issued)["parameters"]
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    assert canonical.encode() in issued
    assert {"counters": EASY, "for": HERE.source, "room": HERE.room} == parameters["data"]


def test_a_challenge_tells_no_address(work: Work) -> None:
    """Its text holds neither the address nor its network, only a keyed hash."""
    assert "192.0.2" not in work.issue(HERE, EASY).decode()


def test_the_counter_is_within_the_range(work: Work) -> None:
    """A solver that tries every counter of the range finds the solution."""
    challenges = [json.loads(work.issue(HERE, EASY)) for _ in range(20)]
    counters = [payload(solver.solve(each))["solution"]["counter"] for each in challenges]
    assert all(0 <= counter < EASY for counter in counters)
    assert len({*counters}) > 1


@pytest.mark.attack
@pytest.mark.parametrize(
    ("to", "why"),
    [
        (HERE._replace(room="another"), "another room"),
        (binding(RING, "another", "192.0.2.1", "192.0.2.0/24"), "another room"),
        (binding(RING, "concert", "192.0.2.2", "192.0.2.0/24"), "another address"),
    ],
)
def test_a_solution_for_somebody_else(work: Work, to: Binding, why: str) -> None:
    """A solution counts in its room and at its address only."""
    solution = solver.solve(json.loads(work.issue(HERE, EASY)))
    with pytest.raises(Unsolved, match=why):
        work.nonce(solution, to, CHEAP)


@pytest.mark.attack
def test_too_late(work: Work) -> None:
    """A challenge is good for its time, so nobody can hoard solutions."""
    solution = solver.solve(json.loads(work.issue(HERE, EASY, time.time() - LIFE_S - 1)))
    with pytest.raises(Unsolved, match="expired"):
        work.nonce(solution, HERE, CHEAP)


@pytest.mark.attack
def test_too_easy(work: Work) -> None:
    """A challenge of a quiet time is not enough in a rush."""
    solution = solver.solve(json.loads(work.issue(HERE, EASY)))
    with pytest.raises(Unsolved, match="too easy"):
        work.nonce(solution, HERE, Price(EASY + 1, EASY + 1))


@pytest.mark.attack
def test_what_was_hoarded_in_a_quiet_time(work: Work) -> None:
    """A cheap challenge serves for a minute after the price rose, not for as long as it lives."""
    rush, now_s = Price(2 * EASY, EASY), time.time()
    new, old = (
        solver.solve(json.loads(work.issue(HERE, EASY, now_s - age_s)))
        for age_s in (GRACE_MS / 1000 - 10, GRACE_MS / 1000 + 2)
    )
    assert work.nonce(new, HERE, rush)
    with pytest.raises(Unsolved, match="too easy"):
        work.nonce(old, HERE, rush)
    assert work.nonce(old, HERE, CHEAP), "at the price of now it is still good"


@pytest.mark.attack
def test_a_key_of_somebody_else(work: Work) -> None:
    """Only our own signature counts."""
    other = Work(KeyRing([b"another-secret-" * 3]))
    with pytest.raises(Unsolved, match="not ours"):
        work.nonce(solver.solve(json.loads(other.issue(HERE, EASY))), HERE, CHEAP)


def _harder(first: Payload, _second: Payload) -> None:
    first["challenge"]["parameters"]["data"]["counters"] = FLOOR


def _other_nonce(first: Payload, second: Payload) -> None:
    first["challenge"]["parameters"]["nonce"] = second["challenge"]["parameters"]["nonce"]


def _upper_case_nonce(first: Payload, _second: Payload) -> None:
    parameters = first["challenge"]["parameters"]
    parameters["nonce"] = "A" + parameters["nonce"][1:].upper()


def _other_salt(first: Payload, _second: Payload) -> None:
    parameters = first["challenge"]["parameters"]
    # The flaw of version 1: a character moved from one field to its neighbour.
    parameters["salt"], parameters["nonce"] = (
        parameters["salt"][:-2],
        (parameters["salt"][-2:] + parameters["nonce"]),
    )


def _other_signature(first: Payload, second: Payload) -> None:
    first["challenge"]["signature"] = second["challenge"]["signature"]


def _no_signature(first: Payload, _second: Payload) -> None:
    del first["challenge"]["signature"]


def _other_key_signature(first: Payload, second: Payload) -> None:
    theirs = second["challenge"]["parameters"]["keySignature"]
    first["challenge"]["parameters"]["keySignature"] = theirs


def _no_key_signature(first: Payload, _second: Payload) -> None:
    del first["challenge"]["parameters"]["keySignature"]


def _other_solution(first: Payload, second: Payload) -> None:
    first["solution"] = second["solution"]


def _cheaper(first: Payload, _second: Payload) -> None:
    first["challenge"]["parameters"]["cost"] = 1


def _for_ever(first: Payload, _second: Payload) -> None:
    first["challenge"]["parameters"]["expiresAt"] = None


def _longer(first: Payload, _second: Payload) -> None:
    first["challenge"]["parameters"]["expiresAt"] += 60


def _no_prefix(first: Payload, _second: Payload) -> None:
    first["challenge"]["parameters"]["keyPrefix"] = ""


def _the_prefix_is_the_key(first: Payload, _second: Payload) -> None:
    first["solution"]["derivedKey"] = first["challenge"]["parameters"]["keyPrefix"]


@pytest.mark.attack
@pytest.mark.parametrize(
    "splice",
    [
        _harder,
        _other_nonce,
        _upper_case_nonce,
        _other_salt,
        _other_signature,
        _no_signature,
        _other_key_signature,
        _no_key_signature,
        _other_solution,
        _cheaper,
        _for_ever,
        _longer,
        _no_prefix,
        _the_prefix_is_the_key,
    ],
    ids=lambda splice: splice.__name__.strip("_"),
)
def test_spliced(work: Work, splice: Callable[[Payload, Payload], None]) -> None:
    """Two good solutions give no third one, in whatever way their parts are put together."""
    first, second = (payload(solver.solve(json.loads(work.issue(HERE, EASY)))) for _ in range(2))
    spliced = copy.deepcopy(first)
    splice(spliced, second)
    assert first != spliced
    with pytest.raises(Unsolved):
        work.nonce(text(spliced), HERE, Price(1, 1))
    assert work.nonce(text(first), HERE, Price(1, 1)), "as it was, it is good"
    assert (False, True) == (altchas(text(spliced)), altchas(text(first))), "ALTCHA says the same"


@pytest.mark.attack
@pytest.mark.parametrize(
    "sent",
    [
        "",
        "x",
        "ripe.",
        "é",
        text({}),
        text({"challenge": None, "solution": None}),
        base64.b64encode(b"[" * 3_000).decode(),
        base64.b64encode(b'{"challenge":' * 1_000).decode(),
        base64.b64encode(b"\xff\xfe").decode(),
        text({"challenge": {"parameters": {"data": [], "nonce": 1}}, "solution": {}}),
        text({"challenge": {"parameters": []}, "solution": []}),
    ],
)
def test_what_is_no_solution(work: Work, sent: str) -> None:
    """Any other text is refused in the same way."""
    with pytest.raises(Unsolved):
        work.nonce(sent, HERE, CHEAP)
