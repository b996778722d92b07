"""turntable_bfrt at bfrt-server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from packet.bfrt_target import BfrtTarget

from turntable_bfrt import BfrtError, Client, SchemaError, Update

ROUTE = "ipv4_lpm"
KEY = {"dst_addr": {"value": 0xC6120001, "prefix_len": 32}}
DATA = {"port": 3, "mac": 0x020000000051}


@pytest.fixture
def client(switch: BfrtTarget, build_dir: Path) -> Iterator[Client]:
    switch.driver.end()
    with Client(switch.address, 20, build_dir / "lib" / "bfrt" / "bfruntime.desc") as bound:
        bound.bind("nocache")
        yield bound


def test_entries_are_written_and_read_by_names(client: Client, switch: BfrtTarget) -> None:
    client.write([Update("insert", ROUTE, KEY, DATA, "forward")])
    [entry] = [entry for entry in client.read(ROUTE) if not entry.is_default]
    assert list(entry.key.values()) == [{"value": 0xC6120001, "prefix_len": 32}]
    assert entry.action is not None and entry.action.endswith("forward")
    assert entry.data == DATA
    [own] = switch.softswitch("table_read", table=ROUTE)["entries"]
    assert own["data"] == DATA
    client.write([Update("delete", ROUTE, KEY)])
    assert switch.softswitch("table_read", table=ROUTE)["entries"] == []


def test_single_updates_have_their_errors(client: Client) -> None:
    insert = Update("insert", ROUTE, KEY, DATA, "forward")
    with pytest.raises(BfrtError) as error:
        client.write([insert, insert])
    [(number, code, _)] = error.value.updates
    assert (number, code) == (1, "ALREADY_EXISTS")


def test_all_or_nothing_takes_the_first_back(client: Client) -> None:
    insert = Update("insert", ROUTE, KEY, DATA, "forward")
    with pytest.raises(BfrtError):
        client.write([insert, insert], all_or_nothing=True)
    assert [entry for entry in client.read(ROUTE) if not entry.is_default] == []


def test_ports_have_texts_and_truth_values(client: Client) -> None:
    ports = client.read("$PORT")
    assert ports
    assert all(isinstance(port.data["$SPEED"], str) for port in ports)
    assert all(port.data["$PORT_UP"] is True for port in ports)


def test_wrong_names_are_answered_with_the_known_ones(client: Client) -> None:
    with pytest.raises(SchemaError, match=r"'no_such' is no table of switch .*there are"):
        client.read("no_such")
    with pytest.raises(SchemaError, match="dst_adr"):
        client.write([Update("insert", ROUTE, {"dst_adr": 1}, DATA, "forward")])
    with pytest.raises(SchemaError, match="port is 512; expected a number of 9 bits"):
        client.write([Update("insert", ROUTE, KEY, {**DATA, "port": 512}, "forward")])


def test_other_program_is_named(client: Client, switch: BfrtTarget, build_dir: Path) -> None:
    assert client.programs() == ["nocache"]
    descriptors = build_dir / "lib" / "bfrt" / "bfruntime.desc"
    with (
        Client(switch.address, 21, descriptors) as other,
        pytest.raises(BfrtError, match="it runs nocache; expected farreach"),
    ):
        other.bind("farreach")


def test_owner_is_waited_for_and_named(client: Client, switch: BfrtTarget, build_dir: Path) -> None:
    descriptors = build_dir / "lib" / "bfrt" / "bfruntime.desc"
    with Client(switch.address, 21, descriptors, deadline_s=3) as second:
        with pytest.raises(BfrtError) as error:
            second.bind("nocache")
        assert error.value.code == "ALREADY_EXISTS"
    client.close()
    with Client(switch.address, 21, descriptors) as third:
        third.bind("nocache")


def test_missing_descriptors_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="which `make build` writes"):
        Client("127.0.0.1:1", 1, tmp_path / "none.desc")
