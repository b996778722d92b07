"""What happens at instants of a measurement: read from an experiment, sent to supervisors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import components, plan
from turntable_core.context import Context
from turntable_core.errors import InputError
from turntable_core.overrides import ExtraVars
from turntable_core.proposal import propose
from turntable_core.requests import Request
from turntable_core.spec import choose_profile, load_experiment
from turntable_core.testbed import read_testbed
from turntable_core.timeline import Event, read, restarts_nodes

from .conftest import changed, write_experiment
from .plans import make_plan, planned
from .testbeds import GROUPS, hostvars

TESTBED = read_testbed(hostvars(), GROUPS)
S = 1_000_000_000
HOSTS = ["switch0", "sender0", "sender1", "receiver0", "receiver1"]


def context(experiments: Path, timeline: list[dict]) -> Context:
    experiment = load_experiment(write_experiment(experiments, changed({"timeline": timeline})))
    made = make_plan(choose_profile(experiment, "smoke"))
    turn = made.turns[0]
    return Context(TESTBED, made, turn, turn.iterations[0], start_at_ns=10 * S, secret="s")


def parts(context: Context) -> dict[str, list[dict]]:
    """Host -> its part; each has one request, that says so."""
    batches = components.batches(["timeline"], "begin", context)
    for requests in batches.values():
        assert [(r.node, r.command) for r in requests] == [("supervisor", "timeline")]
    return {host: requests[0].args["events"] for host, requests in batches.items()}


def test_events_are_read_in_the_order_of_their_instants() -> None:
    document = [{"at_s": 8, "start": "switch0"}, {"at_s": 0.5, "kill": "sender@sender0"}]
    assert read(document) == (Event(0.5, "kill", "sender@sender0"), Event(8, "start", "switch0"))


def test_labels_read_as_prose() -> None:
    rules = [{"action": "drop", "every": 100}, {"action": "delay", "delay_ns": 5}]
    impair = {"host": "server0", "direction": "rx", "rules": rules}
    (event,) = read([{"at_s": 1, "impair": impair}])
    assert event.label == "impair server0 rx drop every 100, delay delay_ns 5"


def test_a_plan_keeps_its_timeline(experiments: Path) -> None:
    made = context(experiments, [{"at_s": 2, "hurry": 5}, {"at_s": 1, "kill": "switch0"}]).plan
    assert plan.from_json(json.loads(json.dumps(plan.to_json(made)))) == made
    assert [event.at_s for event in made.timeline] == [1, 2]


def test_a_profiles_timeline_takes_the_place_of_the_experiments(experiments: Path) -> None:
    changes = {
        "timeline": [{"at_s": 1, "kill": "switch0"}],
        "profiles.smoke.timeline": [{"at_s": 3, "hurry": 1}],
    }
    experiment = load_experiment(write_experiment(experiments, changed(changes)))
    assert choose_profile(experiment, "smoke").timeline == (Event(3, "hurry", 1),)


def test_each_host_is_told_its_part_and_also_that_it_has_none(experiments: Path) -> None:
    timeline = [{"at_s": 1.5, "kill": "sender1"}, {"at_s": 1, "hurry": 3}]
    told = parts(context(experiments, timeline))
    assert sorted(told) == sorted(HOSTS)
    assert [host for host, events in told.items() if events] == ["sender0", "sender1"]
    (hurried,) = told["sender0"]
    assert hurried == {
        "at_ns": 11 * S,
        "label": "hurry 3",
        "requests": [{"node": "sender", "command": "hurry", "args": {"by": 3}}],
    }
    (killed,) = told["sender1"]
    assert (killed["at_ns"], killed["label"]) == (11.5 * S, "kill sender1")
    assert killed["requests"] == [
        {"node": "supervisor", "command": "stop", "args": {"name": "sender", "kill": True}}
    ]


def test_a_node_starts_as_the_run_started_it(experiments: Path) -> None:
    here = context(experiments, [{"at_s": 1, "start": "sender@sender0"}])
    ((event,),) = (events for events in parts(here).values() if events)
    (started,) = components.batches(["sender"], "start", here)["sender0"]
    assert event["requests"] == [
        {"node": started.node, "command": "spawn", "args": dict(started.args)}
    ]


def test_a_switch_that_starts_gets_its_tables_too(experiments: Path) -> None:
    here = context(experiments, [{"at_s": 1, "start": "switch0"}])
    ((event,),) = (events for events in parts(here).values() if events)
    assert [request["command"] for request in event["requests"]] == [
        *("spawn", "table_write", "settings")
    ]


def test_a_link_is_impaired_at_the_hosts_port_and_heals(experiments: Path) -> None:
    rules = [{"action": "drop", "chance": 0.5}]
    impair = {"host": "receiver1", "direction": "rx", "rules": rules}
    told = parts(
        context(experiments, [{"at_s": 1, "impair": impair}, {"at_s": 2, "heal": "receiver1"}])
    )["switch0"]
    asked = [
        (event["at_ns"], request["args"])
        for event in told
        for request in event["requests"]
        if request["command"] == "impair"
    ]
    assert asked == [
        (11 * S, {"port": 3, "direction": "rx", "rules": rules}),
        (12 * S, {"port": 3, "direction": "rx", "rules": []}),
        (12 * S, {"port": 3, "direction": "tx", "rules": []}),
    ]


def test_links_are_healed_when_an_iteration_is_over(experiments: Path) -> None:
    impair = {"host": "receiver1", "direction": "rx", "rules": [{"action": "drop"}]}
    here = context(experiments, [{"at_s": 1, "impair": impair}, {"at_s": 1.5, "kill": "sender0"}])
    undone = components.batches(["timeline"], "undo", here)
    assert list(undone) == ["switch0"]
    first, *healed = undone["switch0"]
    # What may still be about to impair it ends before.
    assert (first.node, first.command, first.args) == ("supervisor", "timeline", {"events": []})
    assert [(request.command, dict(request.args)) for request in healed] == [
        ("impair", {"port": 3, "direction": "rx", "rules": []}),
        ("impair", {"port": 3, "direction": "tx", "rules": []}),
    ]


def test_where_no_link_was_impaired_nothing_is_healed(experiments: Path) -> None:
    here = context(experiments, [{"at_s": 1, "hurry": 3}])
    assert components.batches(["timeline"], "undo", here) == {}


@pytest.mark.parametrize(
    ("events", "afresh"),
    [
        ([{"at_s": 1, "kill": "switch0"}], True),
        # A node that was started is not what the run has configured.
        ([{"at_s": 1, "kill": "sender0"}, {"at_s": 2, "start": "sender0"}], True),
        ([{"at_s": 1, "heal": "sender0"}, {"at_s": 1, "hurry": 1}], False),
        ([], False),
    ],
)
def test_nodes_that_were_killed_are_there_in_the_next_iteration(
    events: list[dict], afresh: bool
) -> None:
    assert restarts_nodes(read(events)) is afresh


def test_events_are_asked_for_only_where_there_were_some(experiments: Path) -> None:
    here = context(experiments, [{"at_s": 1, "kill": "switch0"}])
    asked = components.batches(["timeline"], "collect", here)
    assert asked == {host: [Request("supervisor", "events")] for host in HOSTS}
    without = replace(here, plan=replace(here.plan, timeline=()))
    assert components.batches(["timeline"], "collect", without) == {}


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (
            {"at_s": 1, "kil": "switch0"},
            r"timeline: 'kil'.*one of kill, start, impair, heal, hurry",
        ),
        ({"at_s": 1, "kill": "swicth0"}, r"timeline\.kill: 'swicth0'.*switch0, sender0"),
        ({"at_s": 1, "kill": "sender@nowhere"}, r"timeline\.kill: 'sender@nowhere'"),
        ({"at_s": 1, "kill": {"host": "switch0"}}, r"timeline\.kill: .*a host of this testbed"),
        ({"at_s": 1, "heal": "switch0"}, r"timeline\.heal: 'switch0'.*link to the switch: sender0"),
        ({"at_s": 1, "impair": "sender0"}, r"timeline\.impair: 'sender0'.*host: NAME, direction"),
        (
            {"at_s": 1, "impair": {"host": "sender0", "direction": "up", "rules": []}},
            r"timeline\.impair: .*rx or tx",
        ),
        (
            {"at_s": 1, "impair": {"host": "switch0", "direction": "rx", "rules": []}},
            r"timeline\.impair: .*link to the switch: sender0",
        ),
        ({"at_s": -1, "kill": "switch0"}, r"at_s: -1"),
        # Warm-up and window of the cells with the shortest: 1 s each.
        (
            {"at_s": 2.01, "kill": "switch0"},
            r"tiny\.yml:\d+: timeline\.at_s: 2\.01 .*at most 2: .*common start instant",
        ),
        ({"at_s": 1}, r"tiny\.yml:\d+: timeline\.0: .*expected one action per entry"),
        (
            {"at_s": 1, "kill": "switch0", "start": "switch0"},
            r"tiny\.yml:\d+: timeline\.0: .*expected one action per entry",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_before(
    experiments: Path, event: dict, message: str
) -> None:
    file = write_experiment(experiments, changed({"timeline": [event]}))
    with pytest.raises(InputError, match=message):
        propose(file, ExtraVars({"profile": "smoke"}), TESTBED, experiments / "results")


def propose_impairment(experiments: Path, rules: list[dict]) -> None:
    impair = {"host": "sender0", "direction": "rx", "rules": rules}
    timeline = [{"at_s": 1, "impair": impair}]
    file = write_experiment(experiments, changed({"timeline": timeline}))
    propose(file, ExtraVars({"profile": "smoke"}), TESTBED, experiments / "results")


# As src/softswitch/impairments.cc refuses rules.
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"action": "dorp", "every": 100}, r"\.action: 'dorp'.*one of drop, duplicate, delay"),
        ({"action": "drop", "evry": 100}, r"\.evry: 100.*did you mean 'every'"),
        ({"every": 100}, r"\.action is missing; expected one of drop"),
        ({"action": "drop", "every": 0}, r"\.every: 0 .*at least 1"),
        ({"action": "drop", "chance": 1.5}, r"\.chance: 1\.5 .*at most 1"),
        ({"action": "drop", "every": 2, "nth": 2}, r": .*every, nth or chance, at most one"),
        ({"action": "delay"}, r"\.delay_ns is missing"),
        ({"action": "reorder", "behind": 65}, r"\.behind: 65 .*at most 64"),
        ({"action": "drop", "match": {"offset": 12}}, r"\.match\.value is missing"),
        ({"action": "drop", "match": {"value": "88b"}}, r"\.match\.value: '88b'.*hex digits"),
        ({"action": "drop", "match": {"value": 30}}, r"\.match\.value: 30 .*in quotes"),
    ],
)
def test_rules_of_links_are_checked_before_the_run(
    experiments: Path, rule: dict, message: str
) -> None:
    where = r"tiny\.yml:\d+: timeline\.0\.impair\.rules\.1"
    with pytest.raises(InputError, match=where + message):
        propose_impairment(experiments, [{"action": "drop"}, rule])


def test_a_mask_is_as_long_as_its_value(experiments: Path) -> None:
    def rule(mask: str) -> dict:
        return {"action": "drop", "match": {"offset": 12, "value": "88b5", "mask": mask}}

    propose_impairment(experiments, [rule("ffff")])
    with pytest.raises(InputError, match=r"tiny\.yml:\d+: timeline\.impair: .*a mask as long as"):
        propose_impairment(experiments, [rule("ff")])


def test_rules_that_the_switch_takes_are_accepted(experiments: Path) -> None:
    rules = [
        {"action": "duplicate", "chance": 0.5, "seed": 3},
        {"action": "delay", "delay_ns": 5_000_000, "nth": 3},
        {"action": "reorder", "behind": 2, "delay_ns": 1, "every": 2},
    ]
    propose_impairment(experiments, rules)


def test_the_end_of_the_window_is_not_too_late(experiments: Path) -> None:
    timeline = [{"at_s": 2, "kill": "switch0"}]
    file = write_experiment(experiments, changed({"timeline": timeline}))
    extra = ExtraVars({"profile": "smoke"})
    made = propose(file, extra, TESTBED, experiments / "results")
    assert made.scale.timeline == (Event(2, "kill", "switch0"),)
    with pytest.raises(InputError, match=r"at_s: 2 .*at most 1\.5: .*warm-up \(1 s\).*\(0\.5 s\)"):
        propose(file, replace(extra, values={**extra.values, "measure_s": 0.5}), TESTBED, file)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([(1, "start", "switch0")], r"timeline\.start: 'switch0'.*softswitch of switch0 runs then"),
        (
            [(1, "kill", "sender0"), (1.5, "kill", "sender@sender0")],
            r"timeline\.kill: 'sender@sender0'.*sender of sender0 does not run then",
        ),
        ([(1, "kill", "receiver0")], r"timeline\.kill: 'receiver0'.*none"),
        ([(1, "kill", "sedner@sender0")], r"timeline\.kill: 'sedner@sender0'.*one of sender"),
    ],
)
def test_what_cannot_happen_is_refused_before_the_run(
    experiments: Path, events: list[tuple], message: str
) -> None:
    timeline = [{"at_s": at_s, verb: value} for at_s, verb, value in events]
    file = write_experiment(experiments, changed({"timeline": timeline}))
    made = propose(file, ExtraVars({"profile": "smoke"}), TESTBED, experiments / "results")
    with pytest.raises(InputError, match=r"tiny\.yml:\d+: " + message):
        made.plan(planned(made.scale))


def test_what_is_killed_may_be_started_and_killed_again(experiments: Path) -> None:
    verbs = ["kill", "start", "kill"]
    timeline = [{"at_s": at_s, verb: "switch0"} for at_s, verb in enumerate(verbs)]
    file = write_experiment(experiments, changed({"timeline": timeline}))
    made = propose(file, ExtraVars({"profile": "smoke"}), TESTBED, experiments / "results")
    assert len(made.plan(planned(made.scale)).timeline) == len(verbs)


def test_a_node_that_does_not_run_there_is_no_silent_nothing(experiments: Path) -> None:
    here = context(experiments, [{"at_s": 1, "kill": "sedner@sender0"}])
    with pytest.raises(InputError, match=r"'sedner@sender0'.*one of sender"):
        parts(here)
