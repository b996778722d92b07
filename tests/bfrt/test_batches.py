"""Batches that the server carries out as runs of like entries: what becomes of each update is what
would have become of it alone.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client
from .test_tables import EXISTS, FRAME, FULL, INVALID, MAC, NOT_FOUND, failing, insertion, macs, to

RUN = 40  # more than become columns, and entries enough for something in the middle
COMMAND = 1024  # entries that the server puts into one command


def updates_of(client: Client, kind: str, keys: list[int], port: int = 1) -> list[Any]:
    if kind == "DELETE":
        return [client.update(kind, client.entry("forward", to(key))) for key in keys]
    return [
        client.update(kind, client.entry("forward", to(key), "send", {"port": port}))
        for key in keys
    ]


def ports(client: Client) -> dict[int, int]:
    return {
        entry.key["hdr.ethernet.dst_addr"]: entry.data["port"]
        for entry in client.read("forward")
        if not entry.is_default
    }


# The kind of the run, an update in its middle that fails, and how.
MIDDLES: list[tuple[str, Any, int]] = [
    ("INSERT", 1000, EXISTS),
    ("MODIFY", 2000, NOT_FOUND),
    ("DELETE", 2000, NOT_FOUND),
    ("INSERT_OR_MODIFY", b"\x01", INVALID),
    ("INSERT", b"\x01", INVALID),
]


@pytest.mark.parametrize(
    "atomicity", ["CONTINUE_ON_ERROR", "ROLLBACK_ON_ERROR", "DATAPLANE_ATOMIC"]
)
@pytest.mark.parametrize(("kind", "key", "code"), MIDDLES)
def test_an_error_in_the_middle_of_a_run_is_of_its_update(
    client: Client, kind: str, key: Any, code: int, atomicity: str
) -> None:
    there = list(range(RUN)) if kind in ("MODIFY", "DELETE") else []
    client.write_updates(updates_of(client, "INSERT", [*there, 1000]))
    before = ports(client)
    run = updates_of(client, kind, list(range(RUN)), port=2)
    run[RUN // 2] = updates_of(client, kind, [key], port=2)[0]
    failed = failing(client, *run, atomicity=atomicity)
    assert failed.codes() == [0] * (RUN // 2) + [code]
    assert "pipe.Ingress.forward" in failed.details[-1][1]
    if atomicity != "CONTINUE_ON_ERROR":
        assert ports(client) == before
        return
    done = [each for each in range(RUN) if each != RUN // 2]
    if kind == "DELETE":
        assert macs(client) == [RUN // 2, 1000]
    else:
        left = {RUN // 2: 1} if kind == "MODIFY" else {}
        assert ports(client) == {1000: 1, **left, **dict.fromkeys(done, 2)}


def test_errors_of_a_run_have_the_texts_of_single_updates(client: Client) -> None:
    client.write_updates(updates_of(client, "INSERT", [5]))
    for kind, bad in (("INSERT", 5), ("MODIFY", 77), ("DELETE", 77)):
        alone = failing(client, *updates_of(client, kind, [bad])).details
        good = list(range(100, 100 + RUN))
        if kind == "INSERT":
            run = updates_of(client, kind, [*good, bad])
        else:
            run = updates_of(client, kind, [bad] * RUN)
        assert failing(client, *run).details[-1] == alone[0]


def test_the_same_entry_twice_in_a_run(client: Client) -> None:
    keys = list(range(RUN))
    twice = updates_of(client, "INSERT", keys) + updates_of(client, "INSERT", [7], port=3)
    assert failing(client, *twice).codes() == [0] * RUN + [EXISTS]
    assert ports(client)[7] == 1
    either = updates_of(client, "INSERT_OR_MODIFY", keys) + updates_of(
        client, "INSERT_OR_MODIFY", [7, 500, 500], port=3
    )
    status = client.write_updates(either).status
    assert [each.code for each in status] == [EXISTS] * (RUN + 2)  # all but the first 500
    assert (ports(client)[7], ports(client)[500]) == (3, 3)
    gone = updates_of(client, "DELETE", [*keys, 7])
    assert failing(client, *gone).codes() == [0] * RUN + [NOT_FOUND]
    assert macs(client) == [500]


def test_runs_longer_than_a_command_keep_their_order(client: Client) -> None:
    keys = list(range(3 * COMMAND + 5))
    # Each run needs what the one before it has done, and is longer than one command.
    batch = [
        *updates_of(client, "INSERT", keys),
        *updates_of(client, "MODIFY", keys, port=2),
        *updates_of(client, "DELETE", keys[:-2]),
        *updates_of(client, "INSERT", keys[:1]),
    ]
    client.write_updates(batch)
    assert ports(client) == {0: 1, keys[-2]: 2, keys[-1]: 2}
    late = updates_of(client, "INSERT", [*range(10_000, 10_000 + 2 * COMMAND), 0])
    assert failing(client, *late).codes() == [0] * (2 * COMMAND) + [EXISTS]


def test_a_full_table_refuses_the_rest_of_a_run(client: Client) -> None:
    size = client.table("forward")["size"]
    client.write_updates(updates_of(client, "INSERT", list(range(size - 10))))
    codes = failing(client, *updates_of(client, "INSERT", list(range(size, size + RUN)))).codes()
    assert codes == [0] * 10 + [FULL] * (RUN - 10)
    atomic = updates_of(client, "DELETE", list(range(20))) + updates_of(
        client, "INSERT", list(range(size + 100, size + 130))
    )
    failed = failing(client, *atomic, atomicity="ROLLBACK_ON_ERROR")
    assert failed.codes() == [0] * 40 + [FULL]
    assert client.usage("forward") == size


def test_a_run_for_a_table_with_constant_entries_is_refused_update_by_update(
    client: Client,
) -> None:
    run = [
        client.update(
            "INSERT",
            client.entry("constants", {"hdr.ethernet.ether_type": i}, "mark", {"value": 1}),
        )
        for i in range(RUN)
    ]
    failed = failing(client, insertion(client, 1, 1), *run, insertion(client, 2, 1))
    assert failed.codes() == [0] + [INVALID] * RUN
    assert macs(client) == [1, 2]


def outcome_of(client: Client, updates: list[Any]) -> list[int]:
    """The code of each update."""
    try:
        client.write_updates(updates)
    except CallError as error:
        codes = error.codes()  # up to the last that failed
        return codes + [0] * (len(updates) - len(codes))
    return [0] * len(updates)


@pytest.mark.parametrize("seed", range(6))
def test_a_mixed_batch_does_what_its_updates_do_one_at_a_time(client: Client, seed: int) -> None:
    generator = random.Random(seed)
    updates: list[Any] = []
    while len(updates) < 300:
        # Runs of one kind, from single updates to ones that become columns; few keys, so that they
        # meet; other tables, default entries and clearing between.
        kind = generator.choice(["INSERT", "MODIFY", "INSERT_OR_MODIFY", "DELETE"])
        length = generator.choice([1, 1, 2, 5, 8, 20])
        keys = [generator.randrange(24) for _ in range(length)]
        updates += updates_of(client, kind, keys, port=generator.randrange(1, 9))
        if generator.random() < 0.15:
            entry = client.entry("hits", {"$REGISTER_INDEX": 3}, data={"f1": len(updates)})
            updates.append(client.update("INSERT", entry))
        if generator.random() < 0.1:
            updates.append(client.update("DELETE", client.entry("forward")))
        if generator.random() < 0.1:
            key = to(0) | {"hdr.ethernet.dst_addr": {"value": 0, "prefix_len": length}}
            entry = client.entry("prefixes", key, "mark", {"value": 7})
            updates.append(client.update("INSERT", entry))
    at_once = outcome_of(client, updates)
    left = (ports(client), client.usage("prefixes"), client.read("hits", {"$REGISTER_INDEX": 3}))
    for table in ("forward", "prefixes", "hits"):
        client.delete(table)
    one_by_one = [outcome_of(client, [update])[0] for update in updates]
    assert at_once == one_by_one
    assert {EXISTS, NOT_FOUND, 0} <= set(at_once)
    assert left == (
        ports(client),
        client.usage("prefixes"),
        client.read("hits", {"$REGISTER_INDEX": 3}),
    )


def test_counters_of_entries_in_a_run_begin_anew_with_them(
    client: Client, switch: SoftswitchTarget
) -> None:
    keys = [*range(RUN), MAC]
    client.write_updates(updates_of(client, "INSERT", keys, port=2))
    switch.send(1, FRAME)

    def count(from_hw: bool) -> Any:
        return client.read("forward", to(MAC), from_hw=from_hw)[0].data["$COUNTER_SPEC_PKTS"]

    assert count(from_hw=True) == 1
    client.write_updates(updates_of(client, "MODIFY", keys, port=3))
    assert count(from_hw=True) == 1
    client.write_updates(updates_of(client, "INSERT_OR_MODIFY", keys, port=2))
    assert (count(from_hw=True), count(from_hw=False)) == (1, 1)
    client.write_updates(updates_of(client, "DELETE", keys))
    client.write_updates(updates_of(client, "INSERT", keys))
    assert count(from_hw=False) == 0  # the copy, too
    assert count(from_hw=True) == 0


# --- All or nothing, but for what is not there to be deleted


def ignoring(client: Client, updates: list[Any], atomicity: str) -> list[tuple[int, int]]:
    """Of each update, the status and the code beside it. As the SDE's example bri_grpc_error."""
    client.metadata = [("error_in_resp", "1"), ("ignore_not_found", "1")]
    try:
        answer = client.write_updates(updates, atomicity)
    finally:
        client.metadata = []
    return [(each.canonical_code, each.code) for each in answer.status]


@pytest.mark.parametrize("atomicity", ["ROLLBACK_ON_ERROR", "DATAPLANE_ATOMIC"])
@pytest.mark.parametrize("there", [2, RUN])  # few, and so many that they become columns
def test_a_batch_goes_on_where_there_is_nothing_to_delete(
    client: Client, atomicity: str, there: int
) -> None:
    client.write_updates(updates_of(client, "INSERT", list(range(there + 3))))
    keys = [key for place in range(there) for key in (place, 1000 + place)]
    statuses = ignoring(client, updates_of(client, "DELETE", keys), atomicity)
    assert statuses == [(0, 0), (0, NOT_FOUND)] * there
    assert macs(client) == [there, there + 1, there + 2]


def test_other_errors_of_it_still_undo_all(client: Client) -> None:
    client.write_updates(updates_of(client, "INSERT", [1, 2]))
    updates = [
        *updates_of(client, "DELETE", [1, 9]),
        *updates_of(client, "INSERT", [2]),
    ]
    client.metadata = [("ignore_not_found", "1")]
    refused = failing(client, *updates, atomicity="ROLLBACK_ON_ERROR")
    assert refused.codes()[-1] == EXISTS
    client.metadata = []
    assert macs(client) == [1, 2]
    modified = updates_of(client, "MODIFY", [9])
    client.metadata = [("ignore_not_found", "1")]
    assert failing(client, *modified, atomicity="ROLLBACK_ON_ERROR").codes() == [NOT_FOUND]
    client.metadata = []


def test_without_the_flag_it_undoes_all(client: Client) -> None:
    client.write_updates(updates_of(client, "INSERT", [1, 2]))
    updates = updates_of(client, "DELETE", [1, 9])
    refused = failing(client, *updates, atomicity="ROLLBACK_ON_ERROR")
    assert refused.codes() == [0, NOT_FOUND]
    assert macs(client) == [1, 2]


def test_ports_are_deleted_all_or_none(client: Client) -> None:
    def deleting(*ports: int) -> list[Any]:
        return [client.update("DELETE", client.entry("$PORT", {"$DEV_PORT": p})) for p in ports]

    def added() -> list[int]:
        return sorted(entry.key["$DEV_PORT"] for entry in client.read("$PORT"))

    before = added()
    assert {1, 2, 3} <= set(before)
    internal = failing(client, *deleting(1, 68), atomicity="ROLLBACK_ON_ERROR")
    assert internal.codes() == [0, INVALID]
    assert added() == before
    assert ignoring(client, deleting(1, 77), "ROLLBACK_ON_ERROR") == [(0, 0), (0, 0)]
    assert added() == [port for port in before if port != 1]
