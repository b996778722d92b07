"""Filters that inventories use; expected values are written out."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest
from ansible.errors import AnsibleFilterError

from .conftest import REPOSITORY


def load(name: str) -> ModuleType:
    path = REPOSITORY / f"plugins/filter/{name}.py"
    spec = importlib.util.spec_from_file_location(f"filter_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ADDRESSES = load("addresses")


def test_nth_address_counts_from_the_network_address() -> None:
    assert ADDRESSES.nth_address("198.18.0.0/15", 65536 + 11) == "198.19.0.11"


@pytest.mark.parametrize("arguments", [("198.18.0.0/24", 256), ("198.18.0.1/24", 1), ("x", 1)])
def test_nth_address_outside_the_network_is_an_error(arguments: tuple[str, int]) -> None:
    with pytest.raises(AnsibleFilterError, match="expected an IPv4 network"):
        ADDRESSES.nth_address(*arguments)


def test_mac_of_address_is_local_and_holds_the_address() -> None:
    assert ADDRESSES.mac_of_address("198.18.0.11") == "02:00:c6:12:00:0b"
