"""A switch that is slow, pages, does not answer, or is not the one that was meant."""

from __future__ import annotations

from pathlib import Path

import paramiko
import pytest

from turntable_switch_cli.errors import SwitchCliError

from .conftest import Reached
from .fake_comware import PASSWORD
from .test_converge import DOT1P_LINES


def message(reached: Reached, **access: object) -> str:
    with pytest.raises(SwitchCliError) as caught:
        reached.apply(**access)
    assert PASSWORD not in str(caught.value)
    return str(caught.value)


def test_pages_are_turned(reached: Reached) -> None:
    reached.switch.paged = True
    assert reached.apply().lines == DOT1P_LINES


def test_an_answer_may_come_byte_by_byte(reached: Reached) -> None:
    reached.switch.dripping = True
    assert reached.apply().lines == DOT1P_LINES


def test_a_command_that_the_switch_lacks_is_named(reached: Reached) -> None:
    reached.switch.refused["system-view"] = " % Unrecognized command found at '^' position."
    assert message(reached) == (
        "switch0: 'system-view' was refused: % Unrecognized command found at '^' position. "
        "Nothing was changed"
    )


def test_silence_ends_at_the_deadline(reached: Reached) -> None:
    reached.switch.silent_after = "display qos map-table dot1p-lp"
    reached.deadline_s = 0.5
    assert message(reached).startswith(
        "switch0: no prompt within 0.5 s of 'display qos map-table dot1p-lp'; it said last: "
    )


def test_a_connection_that_is_lost_says_what_was_sent(reached: Reached) -> None:
    reached.switch.lost_after = "import 2 export 2"
    assert message(reached) == (
        "switch0: the connection was lost after 'import 2 export 2'. Sent before it: "
        "'system-view', 'qos map-table dot1p-lp', 'import 0 export 1'. The next application begins "
        "with what the switch shows then"
    )
    reached.switch.lost_after = ""
    assert "import 2 export 2" in reached.apply().lines


def test_a_wrong_password_is_refused(reached: Reached) -> None:
    said = message(reached, password="guessed")
    assert said.startswith(
        f"switch0 (admin@127.0.0.1, port {reached.server.port}): the switch does not let this user "
        "in (Authentication failed"
    )
    assert "guessed" not in said
    assert "switch_qos_password or switch_qos_private_key_file" in said


def test_an_unknown_host_key_is_refused(reached: Reached) -> None:
    reached.known_hosts.write_text("")
    assert message(reached) == (
        f"switch0 (admin@127.0.0.1, port {reached.server.port}): its host key is not in "
        f"{reached.known_hosts}; expected a line for it. Compare its fingerprint with the switch's "
        f"own, then: ssh-keyscan -p {reached.server.port} 127.0.0.1 >> {reached.known_hosts}"
    )
    assert reached.switch.received == []


def test_another_host_key_than_before_is_refused(reached: Reached) -> None:
    other = paramiko.ECDSAKey.generate()
    reached.known_hosts.write_text(reached.server.known_hosts_line(other))
    said = message(reached)
    assert f"it shows the host key {reached.server.key.fingerprint}" in said
    assert f"has {other.fingerprint}; expected the same" in said
    assert reached.switch.received == []


def test_a_missing_known_hosts_is_named(reached: Reached, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    said = message(reached, known_hosts=missing)
    assert said.startswith(f"switch0: {missing} cannot be read (No such file or directory)")


def test_a_missing_private_key_is_named(reached: Reached) -> None:
    said = message(reached, private_key_file="/nowhere/id_ed25519")
    assert said.startswith(
        "switch0: switch_qos_private_key_file is '/nowhere/id_ed25519'; expected"
    )


def test_a_switch_that_does_not_listen_is_named(reached: Reached) -> None:
    said = message(reached, port=1)
    assert said.startswith("switch0 (admin@127.0.0.1, port 1): cannot be reached (")
    assert said.endswith("expected an SSH server there (Comware: ssh server enable)")
