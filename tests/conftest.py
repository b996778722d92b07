"""Options of all tests."""

from __future__ import annotations

import os

import pytest

from turntable_core import caller

# Debian's users do not have these in PATH, nor has root after `su`: sysctl, ethtool, useradd.
os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--p4-trace",
        action="store_true",
        help="failing packet tests show what their packets met: parser states, tables, registers",
    )
    parser.addoption("--p4c", metavar="PATH", help="the Tofino compiler, for tests/tofino")
    parser.addoption(
        "--rack",
        metavar="COMMAND",
        help="what tests/rack/test_conformance.py puts before a command to run it on a switch, "
        "for instance 'ssh root@switch0'; without it, the fake one is asked",
    )
    parser.addoption("--rack-sde", metavar="PATH", help="the SDE's tree there, with install/ in it")
    parser.addoption(
        "--register-actions",
        type=int,
        default=300,
        metavar="N",
        help="how many random RegisterActions --p4c compiles",
    )
    parser.addoption(
        "--register-actions-seed",
        type=int,
        default=20261122,
        metavar="SEED",
        help="of these RegisterActions",
    )


def pytest_configure() -> None:
    caller.give_checkout_at_exit()


@pytest.fixture(scope="session")
def p4_trace(request: pytest.FixtureRequest) -> str | None:
    """The filter with which targets of packet tests trace; None: they do not."""
    return "count=all" if request.config.getoption("--p4-trace") else None
