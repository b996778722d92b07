"""Enums and constants of P4 files for Python and C++ (p4soft.constants)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from p4soft import constants
from p4soft.errors import P4Error

SIZES = "const int CELLS = 4 * 256;\nconst bit<8> HALF = 0x20;\n"
MAIN = """
#include "sizes.p4"
#define TWICE 2
enum bit<8> what_became_t { UNKNOWN = 0, GET_HIT = 3, LARGE_PUT_CASE1 = TWICE * 8 }
enum order_t { FIRST, SECOND }
const bool WELL = true;
struct pair_t { bit<8> one; bit<8> other; }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "sizes.p4").write_text(SIZES)
    path = tmp_path / "shared_numbers.p4"
    path.write_text(MAIN)
    return path


def test_python_gets_enums_and_numbers_with_includes_and_arithmetic(source: Path) -> None:
    read = constants.read(source)
    assert read.enums == {
        "what_became_t": {"UNKNOWN": 0, "GET_HIT": 3, "LARGE_PUT_CASE1": 16},
        "order_t": {"FIRST": 0, "SECOND": 1},
    }
    assert read.numbers == {"CELLS": 1024, "HALF": 32}


def test_cpp_gets_the_same(source: Path, tmp_path: Path) -> None:
    arguments = [str(source), "--namespace", "here::p4", "--output", str(tmp_path / "out")]
    assert constants.main(arguments) == 0
    program = tmp_path / "program.cc"
    program.write_text("""
        #include "out/shared_numbers.h"
        using namespace here::p4;
        static_assert(static_cast<int>(WhatBecame::kGetHit) == 3);
        static_assert(static_cast<int>(WhatBecame::kLargePutCase1) == 16);
        static_assert(static_cast<int>(Order::kSecond) == 1);
        static_assert(kCells == 1024 && kHalf == 32);
    """)
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", program], check=True)


def test_numbers_of_any_size_are_the_same_in_cpp(source: Path, tmp_path: Path) -> None:
    source.write_text("const bit<48> MAC = 0x123456789ABC;\nconst int LESS = -5;\n")
    arguments = [str(source), "--namespace", "here::p4", "--output", str(tmp_path)]
    assert constants.main(arguments) == 0
    program = tmp_path / "program.cc"
    program.write_text("""
        #include "shared_numbers.h"
        static_assert(here::p4::kMac == 0x123456789ABC && here::p4::kLess == -5);
    """)
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", program], check=True)


def test_a_number_that_cpp_has_no_room_for_is_refused(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_text("const bit<128> ADDRESS = 1 << 64;\n")
    arguments = [str(source), "--namespace", "here", "--output", str(tmp_path / "out")]
    assert constants.main(arguments) == 1
    assert "constant ADDRESS is 18446744073709551616; C++ gets" in capsys.readouterr().err
    assert not (tmp_path / "out/shared_numbers.h").exists()


def test_a_number_that_would_be_cut_off_is_refused(source: Path) -> None:
    source.write_text("const bit<8> MOST = 256;\n")
    with pytest.raises(P4Error, match=r"1:21: error: 256 does not fit in bit<8>, which makes it 0"):
        constants.read(source)


def test_an_unchanged_header_keeps_its_time(source: Path, tmp_path: Path) -> None:
    arguments = [str(source), "--namespace", "here", "--output", str(tmp_path)]
    constants.main(arguments)
    header = tmp_path / "shared_numbers.h"
    before = header.stat().st_mtime_ns
    constants.main(arguments)
    assert header.stat().st_mtime_ns == before


def test_what_is_wrong_is_said(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(source), "--namespace", "here", "--output", str(tmp_path)]
    source.write_text("const int CELLS = UNKNOWN_NAME;\n")
    with pytest.raises(P4Error, match="UNKNOWN_NAME"):
        constants.read(source)
    assert constants.main(arguments) == 1
    assert "shared_numbers.p4:1:19: error: " in capsys.readouterr().err
    source.unlink()
    assert constants.main(arguments) == 2
