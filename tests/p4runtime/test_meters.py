"""Meters. Rules and codes: P4Runtime 1.4, "MeterEntry & DirectMeterEntry", "Direct Resources"."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code
from .test_cells import registers
from .test_tables import EXACT, forward, frame, refused

GREEN, YELLOW, RED = 0, 1, 3  # MeterColor_t
FRAME_BYTES = 60 + 4  # with the check sequence
IPV4 = {"exact": {"value": b"\x08\x00"}}
KNOWN = {"exact": {"value": b"\x12\x35"}}
# Bytes of the frame that have the colour.
PACE, POLICED = 6, 7
RECOGNISED = 9


def limits(client: Client, burst: int, peak_burst: int | None = None, **more: int) -> Any:
    """Rates are 0: colours do not depend on how long a test takes to send its frames."""
    return client.proto.MeterConfig(
        cburst=burst, pburst=burst if peak_burst is None else peak_burst, **more
    )


def cell(client: Client, meter: str, index: int | None, config: Any = None) -> Any:
    entry = client.proto.MeterEntry(meter_id=client.id_of("meters", meter), config=config)
    if index is not None:
        entry.index.index = index
    return entry


def cells(client: Client, meter: str, index: int | None = None) -> list[Any]:
    wanted = cell(client, meter, index)
    return [each.meter_entry for each in client.read(client.proto.Entity(meter_entry=wanted))]


def colours(
    switch: SoftswitchTarget, place: int, count: int, ether_type: int = 0x0800
) -> list[int]:
    found = []
    for _ in range(count):
        ((_, sent),) = switch.send(1, frame(ether_type))
        found.append(sent[place])
    return found


def failed_read(client: Client, **entity: Any) -> list[int]:
    with pytest.raises(CallError) as failed:
        client.read(client.proto.Entity(**entity))
    return failed.value.codes()


# --- Cells


def test_cells_begin_with_the_default_configuration(client: Client) -> None:
    every = cells(client, "limits")
    assert [entry.index.index for entry in every] == list(range(16))
    assert not any(entry.HasField("config") for entry in every)
    wildcard = client.read(client.proto.Entity(meter_entry=client.proto.MeterEntry()))
    assert len(wildcard) == 16 + 4


def test_what_is_read_is_what_was_written(client: Client) -> None:
    """To the byte, though softswitch has kilobits."""
    config = client.proto.MeterConfig(cir=1001, cburst=1518, pir=125_000_001, pburst=9001)
    written = cell(client, "limits", 3, config)
    client.write(client.update("MODIFY", meter_entry=written))
    assert cells(client, "limits", 3) == [written]
    assert [e.index.index for e in cells(client, "limits") if e.HasField("config")] == [3]
    client.write(client.update("MODIFY", meter_entry=cell(client, "limits", 3)))
    assert cells(client, "limits", 3) == [cell(client, "limits", 3)]


def test_without_an_index_all_cells_are_written(client: Client) -> None:
    config = limits(client, 5)
    client.write(client.update("MODIFY", meter_entry=cell(client, "pace", None, config)))
    assert cells(client, "pace") == [cell(client, "pace", index, config) for index in range(4)]
    client.write(client.update("MODIFY", meter_entry=cell(client, "pace", None)))
    assert cells(client, "pace") == [cell(client, "pace", index) for index in range(4)]


def test_packets_are_counted_in_packets(client: Client, switch: SoftswitchTarget) -> None:
    """RFC 2698: CBS = 2 and PBS = 3 packets."""
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = client.entry("copied", client.action("by_pace", index=b"\x02"), ether_type=IPV4)
    client.write(client.update("INSERT", table_entry=entry))
    written = cell(client, "pace", 2, limits(client, 2, 3))
    client.write(client.update("MODIFY", meter_entry=written))
    assert colours(switch, PACE, 4) == [GREEN, GREEN, YELLOW, RED]


@pytest.mark.parametrize(("burst", "green"), [(2 * FRAME_BYTES, 2), (2 * FRAME_BYTES - 1, 1)])
def test_bytes_are_counted_in_bytes(
    client: Client, switch: SoftswitchTarget, burst: int, green: int
) -> None:
    """The program counts frames that are not red in the register `hits`, from 7 on."""
    written = cell(client, "limits", 0, limits(client, burst))
    client.write(client.update("MODIFY", meter_entry=written))
    for _ in range(4):
        switch.send(1, frame())
    (hits,) = registers(client, "hits", 0)
    assert hits.data.bitstring == bytes([7 + green])


def test_wrong_cells_are_refused(client: Client) -> None:
    config = limits(client, 1)

    def code_of(entry: Any, kind: str = "MODIFY") -> int:
        return refused(client, client.update(kind, meter_entry=entry))

    for kind in ("INSERT", "DELETE"):
        assert code_of(cell(client, "limits", 0, config), kind) == code("INVALID_ARGUMENT")
    assert code_of(cell(client, "limits", -1, config)) == code("INVALID_ARGUMENT")
    assert code_of(cell(client, "limits", 16, config)) == code("OUT_OF_RANGE")
    assert code_of(cell(client, "limits", 0, limits(client, -1))) == code("INVALID_ARGUMENT")
    assert code_of(cell(client, "limits", 0, limits(client, 10**11))) == code("INVALID_ARGUMENT")
    with_excess = limits(client, 1, eburst=1)  # of meters with a single rate
    assert code_of(cell(client, "limits", 0, with_excess)) == code("INVALID_ARGUMENT")
    counted = cell(client, "limits", 0, config)
    counted.counter_data.SetInParent()
    assert code_of(counted) == code("UNIMPLEMENTED")
    assert code_of(client.proto.MeterEntry(meter_id=1)) == code("NOT_FOUND")
    assert not any(entry.HasField("config") for entry in cells(client, "limits"))


def test_wrong_reads_of_cells_are_refused(client: Client) -> None:
    assert failed_read(client, meter_entry=cell(client, "limits", 16)) == [code("OUT_OF_RANGE")]
    assert failed_read(client, meter_entry=cell(client, "limits", -1)) == [code("INVALID_ARGUMENT")]
    counted = cell(client, "limits", 0)
    counted.counter_data.SetInParent()
    assert failed_read(client, meter_entry=counted) == [code("UNIMPLEMENTED")]
    unknown = client.proto.MeterEntry(meter_id=1)
    assert failed_read(client, meter_entry=unknown) == [code("NOT_FOUND")]


# --- Meters of entries


def policed(client: Client, config: Any = None) -> Any:
    entry = client.entry("policed", client.action("police", value=b"\x11"), dst_addr=EXACT)
    if config is not None:
        entry.meter_config.CopyFrom(config)
    return entry


def direct(client: Client, place: Any, config: Any = None) -> Any:
    return client.proto.DirectMeterEntry(table_entry=place, config=config)


def place(client: Client) -> Any:
    return client.entry("policed", dst_addr=EXACT)


def read_direct(client: Client, wanted: Any) -> list[Any]:
    entity = client.proto.Entity(direct_meter_entry=wanted)
    return [each.direct_meter_entry for each in client.read(entity)]


def with_meters(client: Client, table: str, **filters: Any) -> list[Any]:
    return list(client.entries(table, meter_config=client.proto.MeterConfig(), **filters))


def test_an_entry_is_inserted_with_its_meter(client: Client, switch: SoftswitchTarget) -> None:
    entry = policed(client, limits(client, FRAME_BYTES))
    client.write(
        client.update("INSERT", table_entry=forward(client)),
        client.update("INSERT", table_entry=entry),
    )
    assert colours(switch, POLICED, 3) == [GREEN, RED, RED]
    assert with_meters(client, "policed") == [entry]
    assert list(client.entries("policed")) == [policed(client)]  # it was not asked for


def test_an_entry_without_a_configuration_is_green(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.write(
        client.update("INSERT", table_entry=forward(client)),
        client.update("INSERT", table_entry=policed(client)),
    )
    assert colours(switch, POLICED, 3) == [GREEN] * 3
    assert with_meters(client, "policed") == [policed(client)]


def test_a_modification_without_a_configuration_brings_the_default_back(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.write(
        client.update("INSERT", table_entry=forward(client)),
        client.update("INSERT", table_entry=policed(client, limits(client, FRAME_BYTES))),
    )
    assert colours(switch, POLICED, 2) == [GREEN, RED]
    client.write(client.update("MODIFY", table_entry=policed(client)))
    assert colours(switch, POLICED, 2) == [GREEN, GREEN]
    client.write(client.update("MODIFY", table_entry=policed(client, limits(client, FRAME_BYTES))))
    assert colours(switch, POLICED, 2) == [GREEN, RED]


def test_the_meter_alone_is_modified(client: Client, switch: SoftswitchTarget) -> None:
    client.write(
        client.update("INSERT", table_entry=forward(client)),
        client.update("INSERT", table_entry=policed(client)),
    )
    written = direct(client, place(client), limits(client, FRAME_BYTES))
    client.write(client.update("MODIFY", direct_meter_entry=written))
    assert colours(switch, POLICED, 2) == [GREEN, RED]
    assert read_direct(client, direct(client, place(client))) == [written]
    assert list(client.entries("policed")) == [policed(client)]
    client.write(client.update("MODIFY", direct_meter_entry=direct(client, place(client))))
    assert colours(switch, POLICED, 2) == [GREEN, GREEN]
    assert read_direct(client, direct(client, place(client))) == [direct(client, place(client))]


def test_all_direct_meters_are_read(client: Client) -> None:
    """Of all tables that have one; `known` has an entry from the start."""
    client.write(client.update("INSERT", table_entry=policed(client)))
    found = read_direct(client, client.proto.DirectMeterEntry())
    tables = {client.id_of("tables", table) for table in ("policed", "known")}
    assert {each.table_entry.table_id for each in found} == tables


def test_the_default_entry_has_a_meter(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    default = client.entry("policed", client.action("police", value=b"\x11"))
    default.is_default_action = True
    default.meter_config.CopyFrom(limits(client, FRAME_BYTES))
    client.write(client.update("MODIFY", table_entry=default))
    assert colours(switch, POLICED, 2) == [GREEN, RED]
    assert with_meters(client, "policed", is_default_action=True) == [default]
    name = client.entry("policed")
    name.is_default_action = True
    written = direct(client, name, limits(client, 2 * FRAME_BYTES))
    client.write(client.update("MODIFY", direct_meter_entry=written))
    assert colours(switch, POLICED, 3) == [GREEN, GREEN, RED]
    assert read_direct(client, direct(client, name)) == [written]
    client.write(client.update("MODIFY", table_entry=name))  # back to the program's
    assert read_direct(client, direct(client, name)) == [direct(client, name)]
    name.meter_config.CopyFrom(limits(client, 1))
    update = client.update("MODIFY", table_entry=name)
    assert refused(client, update) == code("INVALID_ARGUMENT")


def test_meters_of_constants_are_modified(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = client.entry("known", ether_type=KNOWN)
    entry.meter_config.CopyFrom(limits(client, 1))
    client.write(client.update("MODIFY", table_entry=entry))
    assert colours(switch, RECOGNISED, 2, 0x1235) == [GREEN, RED]
    (read,) = with_meters(client, "known")
    assert (read.is_const, read.meter_config) == (True, entry.meter_config)
    default = client.entry("known")
    default.is_default_action = True
    written = direct(client, default, limits(client, 1))
    client.write(client.update("MODIFY", direct_meter_entry=written))
    assert read_direct(client, direct(client, default)) == [written]


def test_wrong_direct_meters_are_refused(client: Client) -> None:
    config = limits(client, 1)

    def code_of(entry: Any, kind: str = "MODIFY") -> int:
        return refused(client, client.update(kind, direct_meter_entry=entry))

    assert code_of(direct(client, place(client), config)) == code("NOT_FOUND")
    client.write(client.update("INSERT", table_entry=policed(client)))
    for kind in ("INSERT", "DELETE"):
        assert code_of(direct(client, place(client), config), kind) == code("INVALID_ARGUMENT")
    elsewhere = client.entry("forward", dst_addr=EXACT)
    assert code_of(direct(client, elsewhere, config)) == code("INVALID_ARGUMENT")
    negative = direct(client, place(client), limits(client, -1))
    assert code_of(negative) == code("INVALID_ARGUMENT")
    counted = direct(client, place(client), config)
    counted.counter_data.SetInParent()
    assert code_of(counted) == code("UNIMPLEMENTED")


def test_wrong_meters_in_entries_are_refused(client: Client) -> None:
    entry = forward(client)
    entry.meter_config.CopyFrom(limits(client, 1))
    update = client.update("INSERT", table_entry=entry)
    assert refused(client, update) == code("INVALID_ARGUMENT")
    counted = policed(client)
    counted.meter_counter_data.SetInParent()
    update = client.update("INSERT", table_entry=counted)
    assert refused(client, update) == code("UNIMPLEMENTED")
    update = client.update("INSERT", table_entry=policed(client, limits(client, 1, eburst=1)))
    assert refused(client, update) == code("INVALID_ARGUMENT")


def test_wrong_reads_of_direct_meters_are_refused(client: Client) -> None:
    absent = direct(client, place(client))
    assert failed_read(client, direct_meter_entry=absent) == [code("NOT_FOUND")]
    elsewhere = direct(client, client.entry("forward", dst_addr=EXACT))
    assert failed_read(client, direct_meter_entry=elsewhere) == [code("INVALID_ARGUMENT")]
    counted = client.proto.TableEntry(table_id=client.id_of("tables", "policed"))
    counted.meter_counter_data.SetInParent()
    assert failed_read(client, table_entry=counted) == [code("UNIMPLEMENTED")]
    with_counts = client.proto.DirectMeterEntry()
    with_counts.counter_data.SetInParent()
    assert failed_read(client, direct_meter_entry=with_counts) == [code("UNIMPLEMENTED")]


def test_a_new_pipeline_begins_without_limits(client: Client, switch: SoftswitchTarget) -> None:
    entry = client.entry("known", ether_type=KNOWN)
    entry.meter_config.CopyFrom(limits(client, 1))
    client.write(
        client.update("MODIFY", meter_entry=cell(client, "limits", None, limits(client, 1))),
        client.update("MODIFY", table_entry=entry),
    )
    switch.command("meter_byte_count_adjust", table="limits", byte_count_adjust=-9)
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert not any(each.HasField("config") for each in cells(client, "limits"))
    adjusted = switch.command("meter_byte_count_adjust", table="limits")
    assert adjusted["byte_count_adjust"] == 0
    assert not any(each.HasField("meter_config") for each in with_meters(client, "known"))
