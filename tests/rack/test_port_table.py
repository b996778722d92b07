"""`pm show` and the port manager's answers are read by what they say, not by where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_sde import pm

TRANSCRIPTS = Path(__file__).parent / "transcripts"


def rows(name: str) -> dict[str, dict[str, str]]:
    return pm.rows_of((TRANSCRIPTS / f"{name}.txt").read_text())


def test_table_with_and_without_the_column_kr() -> None:
    """Older releases may not have it."""
    with_kr, without = rows("show"), rows("show_without_kr")
    assert list(with_kr) == list(without) == ["17/0", "9/0", "10/2"]
    for row in (with_kr["17/0"], without["17/0"]):
        assert (row["D_P"], row["SPEED"], row["OPR"], row["RDY"]) == ("44", "10G", "DWN", "YES")
    assert with_kr["9/0"]["FEC"] == "RS" and with_kr["9/0"]["LPBK"] == "Mac-near"
    assert "KR" not in without["9/0"]


def test_header_that_is_repeated_is_no_row() -> None:
    text = (TRANSCRIPTS / "show.txt").read_text()
    assert pm.rows_of(text + text) == pm.rows_of(text)


def test_row_that_is_cut_short_is_no_row_of_a_port() -> None:
    text = (TRANSCRIPTS / "show.txt").read_text()
    with pytest.raises(pm.PortsError, match="cut short"):
        pm.rows_of(text[: text.rindex("|DWN")])


def test_table_without_a_column_that_is_needed() -> None:
    with pytest.raises(pm.PortsError, match="no column RDY"):
        pm.rows_of("PORT |MAC |D_P|SPEED|FEC|AN|ADM|OPR|LPBK\n1/0|1|1|1|1|1|1|1|1\n")


@pytest.mark.parametrize(
    "line",
    [
        "Add failed Already exists (4)",
        "Add failed Invalid arguments (3)",
        "Usage : port-add <ports> <speed> <fec>",
        "unknown command 'port-ad'",
    ],
)
def test_refusals_are_seen(line: str) -> None:
    assert pm.error_in(f"{line}\r\n".replace("\r\n", "\n")) == line


def test_silence_is_no_refusal() -> None:
    assert pm.error_in("") is None
    assert pm.error_in((TRANSCRIPTS / "show.txt").read_text()) is None


ROW = {"SPEED": "100G", "FEC": "RS", "AN": "Ds", "LPBK": "NONE", "ADM": "ENB", "OPR": "UP"}
WANTED = pm.Wanted("9/0", "100G", "rs", "disabled")


@pytest.mark.parametrize(
    ("wanted", "row", "commands"),
    [
        (WANTED, ROW, []),
        (WANTED, None, ["port-add 9/0 100G RS", "an-set 9/0 2", "port-enb 9/0"]),
        (WANTED, {**ROW, "ADM": "DIS"}, ["port-enb 9/0"]),
        (WANTED, {**ROW, "AN": "Au"}, ["an-set 9/0 2"]),
        (
            WANTED,
            {**ROW, "SPEED": "25G"},
            ["port-del 9/0", "port-add 9/0 100G RS", "an-set 9/0 2", "port-enb 9/0"],
        ),
        (
            pm.Wanted("9/0", "100G", "rs", "disabled", "mac-near"),
            ROW,
            ["port-dis 9/0", "port-loopback 9/0 mac-near", "port-enb 9/0"],
        ),
        (
            WANTED,
            {**ROW, "LPBK": "Mac-near", "ADM": "DIS"},
            ["port-loopback 9/0 clear", "port-enb 9/0"],
        ),
        (pm.Wanted("9/0", "100G", "rs", "disabled", enabled=False), ROW, ["port-dis 9/0"]),
    ],
    ids=["as_wanted", "absent", "disabled", "an", "speed", "loop", "no_loop", "not_wanted"],
)
def test_only_what_differs_is_typed(wanted: pm.Wanted, row: dict | None, commands: list) -> None:
    assert pm.commands_for(wanted, row) == commands
