"""What programs of a host print, as their own manuals and drivers of real NICs show it."""

from __future__ import annotations

import pytest

from turntable_host import clock, ethtool, interrupts, packages
from turntable_host.errors import HostError
from turntable_host.kernel import TransparentHugePages

COALESCING = """\
Coalesce parameters for ens1f0:
Adaptive RX: on  TX: off
stats-block-usecs:	n/a
sample-interval:	n/a

rx-usecs:	8
rx-frames:	128
rx-usecs-irq:	n/a

tx-usecs:	16

CQE mode RX: on  TX: off
"""
PAUSE = "Pause parameters for ens1f0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\n"
CHANNELS = """\
Channel parameters for ens1f0:
Pre-set maximums:
RX:		n/a
TX:		n/a
Other:		n/a
Combined:	16
Current hardware settings:
RX:		n/a
TX:		n/a
Other:		n/a
Combined:	8
"""
FEATURES = """\
Features for ens1f0:
rx-checksumming: on
tx-checksumming: on
	tx-checksum-ipv4: off [fixed]
	tx-checksum-ip-generic: on
tcp-segmentation-offload: on
	tx-tcp-segmentation: on
generic-receive-offload: on
large-receive-offload: off [fixed]
rx-gro-list: off
"""


def test_what_a_nic_shows_is_what_can_be_set() -> None:
    assert ethtool.Coalescing("ens1f0").parse(COALESCING) == {
        "adaptive-rx": "on",
        "adaptive-tx": "off",
        "rx-usecs": "8",
        "rx-frames": "128",
        "tx-usecs": "16",
    }
    assert ethtool.Pause("ens1f0").parse(PAUSE) == {"autoneg": "off", "rx": "on", "tx": "on"}
    assert ethtool.Channels("ens1f0").parse(CHANNELS) == {"combined": "8"}
    features = ethtool.Features("ens1f0").parse(FEATURES)
    assert features["tx-checksum-ip-generic"] == features["generic-receive-offload"] == "on"
    assert not {"tx-checksum-ipv4", "large-receive-offload"} & features.keys()


def test_a_feature_is_put_back_by_its_parts() -> None:
    nic = ethtool.Features("ens1f0")
    wanted = {"tx-checksumming": "off", "generic-receive-offload": "off"}
    assert nic.arguments(wanted, FEATURES) == {"tx": "off", "gro": "off"}
    previous = {"tx-checksumming": "on", "tx-checksum-ip-generic": "on", "rx-gro-list": "on"}
    assert nic.arguments(previous, FEATURES) == {
        "tx-checksum-ip-generic": "on",
        "rx-gro-list": "on",
    }


def test_an_inventory_may_use_the_short_names() -> None:
    assert ethtool.features_of({"gro": False, "rx-gro-list": True}) == {
        "generic-receive-offload": "off",
        "rx-gro-list": "on",
    }
    assert ethtool.words_of({"adaptive-rx": False, "rx-usecs": 0}) == {
        "adaptive-rx": "off",
        "rx-usecs": "0",
    }


def test_the_chosen_word_is_the_one_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntable_host.kernel.read_kernel", lambda *_: "always [madvise] never")
    assert TransparentHugePages("enabled").read() == "madvise"


def test_interrupts_are_given_to_processors_in_turn() -> None:
    assert interrupts.spread(["40", "41", "42"], "2-3") == {"40": "2", "41": "3", "42": "2"}
    assert interrupts.numbers_of("0-2,8") == [0, 1, 2, 8]
    with pytest.raises(HostError, match="'8-0' is no range"):
        interrupts.numbers_of("0,8-0")


CHRONY = "C0A80001,ntp1,3,1763900000.1,{offset},0,0,-3.2,0,0,0.0006,0.0002,64.2,{state}"


def test_how_far_a_clock_may_be_off() -> None:
    kept = CHRONY.format(offset="-0.000100", state="Normal")
    assert clock.chrony_error_us(kept) == pytest.approx(100 + 200 + 300)
    assert clock.chrony_error_us(CHRONY.format(offset="0", state="Not synchronised")) is None
    status = "sending: GET TIME_STATUS_NP\n\t\tmaster_offset  -1500\n\t\tgmPresent  {}\n"
    assert clock.ptp_error_us(status.format("true"), True) == 1.5
    assert clock.ptp_error_us(status.format("false"), True) is None
    assert clock.ptp_error_us(status.format("true"), False) is None


def test_what_is_upgraded_is_none_of_what_was_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = (
        "Inst libfoo1 (1.2-3 Debian:12.11/stable [amd64])\n"
        "Inst libc6 [2.36-9] (2.36-10 Debian:12.11/stable [amd64])\n"
        "Conf libfoo1 (1.2-3 Debian:12.11/stable [amd64])\n"
    )
    monkeypatch.setattr(packages, "run", lambda *_: simulated)
    assert packages.would_install(["foo"]) == ["libfoo1"]
