"""Only what differs is sent, and what is refused leaves nothing half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_switch_cli.converge import lines_for
from turntable_switch_cli.errors import SwitchCliError

from .conftest import Reached, dialogue, settings
from .fake_comware import PORTS, FakeComware

GOLDEN = Path(__file__).parent / "golden"
FIRST, SECOND = PORTS
# Of a switch as it is sold, whose map has 0 -> 2, 1 -> 0, 2 -> 1.
DOT1P_LINES = [
    *("system-view", "qos map-table dot1p-lp", "import 0 export 1", "import 2 export 2", "quit"),
    *(f"interface {FIRST}", "qos trust dot1p", "qos sp", "quit"),
    *(f"interface {SECOND}", "qos trust dot1p", "qos sp", "return"),
]


@pytest.mark.parametrize("trust", ["dscp", "dot1p"])
def test_the_whole_configuration_is_the_one_written_by_hand(trust: str) -> None:
    lines = lines_for([setting.place for setting in settings(trust)], dialogue())
    assert lines == (GOLDEN / f"{trust}.txt").read_text().splitlines()


def test_only_what_differs_is_sent(reached: Reached) -> None:
    assert reached.apply().lines == DOT1P_LINES
    assert reached.switch.maps["dot1p-lp"] == {0: 1, 1: 0, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7}
    assert reached.switch.trust == {FIRST: "dot1p", SECOND: "dot1p"}
    assert set(reached.switch.scheduling.values()) == {"Strict Priority queuing"}


@pytest.mark.parametrize("trust", ["dscp", "dot1p"])
def test_the_second_time_nothing_is_sent(reached: Reached, trust: str) -> None:
    assert reached.apply(trust).lines
    reached.switch.received.clear()
    assert reached.apply(trust).lines == []
    asked = [line for line in reached.switch.received if line != "screen-length disable"]
    assert asked
    assert all(line.startswith("display ") for line in asked)


def test_a_trusted_dscp_of_8_p_is_queue_p(reached: Reached) -> None:
    reached.switch.maps["dscp-dot1p"][8] = 6
    reached.apply("dscp")
    maps = reached.switch.maps
    assert [maps["dot1p-lp"][maps["dscp-dot1p"][8 * p]] for p in range(8)] == list(range(8))


def test_a_check_sends_nothing(reached: Reached) -> None:
    before = FakeComware()
    assert reached.apply(check=True).lines == DOT1P_LINES
    assert reached.switch.maps == before.maps
    assert reached.switch.trust == before.trust


def test_what_was_set_before_a_refused_line_is_taken_back(reached: Reached) -> None:
    before = FakeComware()
    reached.switch.refused["qos sp"] = " % Operation is not supported on this port."
    said = (
        "switch0: 'qos sp' was refused: % Operation is not supported on this port. Settings made "
        "before it: 3; they were taken back"
    )
    with pytest.raises(SwitchCliError) as caught:
        reached.apply()
    assert str(caught.value) == said
    assert reached.switch.maps == before.maps
    assert reached.switch.trust == before.trust


def test_what_is_taken_and_not_shown_is_taken_back(reached: Reached) -> None:
    before = FakeComware()
    reached.switch.ignored = ("import 2 export 2",)
    with pytest.raises(SwitchCliError) as caught:
        reached.apply()
    assert (
        "'import 2 export 2' in 'qos map-table dot1p-lp' was taken, and 'display qos map-table "
        "dot1p-lp' shows 1; expected 2"
    ) in str(caught.value)
    assert str(caught.value).endswith("Settings made before it: 6; they were taken back")
    assert (reached.switch.maps, reached.switch.scheduling) == (before.maps, before.scheduling)


def test_an_earlier_trust_is_set_again(reached: Reached) -> None:
    reached.switch.trust[FIRST] = "dscp"
    reached.switch.refused["qos sp"] = " % Wrong parameter found at '^' position."
    with pytest.raises(SwitchCliError, match="they were taken back"):
        reached.apply()
    assert reached.switch.trust[FIRST] == "dscp"


def test_a_port_that_the_switch_lacks_changes_nothing(reached: Reached) -> None:
    del reached.switch.trust[SECOND]
    reached.switch.refused[f"display qos trust interface {SECOND}"] = (
        " % Wrong parameter found at '^' position."
    )
    with pytest.raises(SwitchCliError) as caught:
        reached.apply()
    assert str(caught.value) == (
        f"switch0: 'display qos trust interface {SECOND}' was refused: % Wrong parameter found at "
        "'^' position."
    )
    assert "system-view" not in reached.switch.received


def test_an_answer_of_another_form_changes_nothing(reached: Reached) -> None:
    reached.switch.refused[f"display qos sp interface {FIRST}"] = "Scheduler: SP"
    with pytest.raises(SwitchCliError) as caught:
        reached.apply()
    assert f"switch0: the answer to 'display qos sp interface {FIRST}' has nothing like" in str(
        caught.value
    )
    assert "'Scheduler: SP'" in str(caught.value)
    assert "system-view" not in reached.switch.received
