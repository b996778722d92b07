"""provision.yml and unprovision.yml on two machines."""

from __future__ import annotations

from .conftest import RECORD, Rack, changes


def test_twice_and_back(rack: Rack) -> None:
    before = rack.fingerprints()
    first = rack.played("provision", "--diff")
    assert min(changes(first).values()) > 5, first
    second = rack.played("provision")
    assert changes(second) == {"client0": 0, "server0": 0}, second
    assert rack.fingerprints() != before
    rack.played("unprovision", "--diff")
    assert rack.fingerprints() == before
    assert not rack.client.exists(RECORD)
