"""The preprocessor: what the C preprocessor of the Tofino compiler (`cpp -x assembler-with-cpp`)
does with the same lines.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from p4soft.errors import P4Error, P4Warning
from p4soft.frontend.lexer import Kind
from p4soft.frontend.preprocessor import Preprocessor


def read(directory: Path, text: str, **included: str) -> tuple[str, list[str]]:
    """The program that `text` becomes, and its warnings. included: by name, without `.h`."""
    for name, content in included.items():
        (directory / f"{name}.h").write_text(content)
    top = directory / "top.p4"
    top.write_text(text)
    warnings: list[P4Warning] = []
    tokens = Preprocessor([directory], {}, warnings.append).read(top)
    said = [f"{w.position.line}:{w.position.column}: {w.message}" for w in warnings]
    return " ".join(token.text for token in tokens if token.kind is not Kind.END), said


def test_warning_is_printed_and_the_program_goes_on(tmp_path: Path) -> None:
    text = '#ifndef WINDOW\n#warning "no window, taking 8"\n#define WINDOW 8\n#endif\nWINDOW'
    assert read(tmp_path, text) == ("8", ['2:2: #warning "no window, taking 8"'])


def test_lines_of_no_directive_are_left_out_with_a_warning(tmp_path: Path) -> None:
    program, warnings = read(tmp_path, "a\n#enum bit<8> kind_t {\n#    ONE\n# }\nb\n")
    assert program == "a b"
    left_out = "is no directive of the preprocessor; this line is left out"
    assert warnings == [f"2:2: #enum {left_out}", f"3:6: #ONE {left_out}"]


def test_lines_for_the_compiler_itself_say_nothing(tmp_path: Path) -> None:
    lines = '#pragma clang x\n#line 3 "other.p4"\n# 7 "other.p4"\n#\n#ident "x"\n'
    assert read(tmp_path, f"a\n{lines}b") == ("a b", [])


def test_file_with_pragma_once_is_read_once(tmp_path: Path) -> None:
    text = '#include "once.h"\n#include <once.h>\n#include "twice.h"\n#include "twice.h"\n'
    assert read(tmp_path, text, once="#pragma once\na\n", twice="b\n") == ("a b b", [])


def test_import_reads_what_was_not_read_before(tmp_path: Path) -> None:
    text = '#import "one.h"\n#import "one.h"\n#include "two.h"\n#import "two.h"\n'
    assert read(tmp_path, text, one="a\n", two="b\n") == ("a b", [])


def test_include_of_a_macro(tmp_path: Path) -> None:
    text = '#define QUOTED "part.h"\n#define ANGLED <part.h>\n#include QUOTED\n#include ANGLED\n'
    assert read(tmp_path, text, part="a\n") == ("a a", [])


def test_elifdef_and_elifndef(tmp_path: Path) -> None:
    text = "#define B\n#ifdef A\n1\n#elifdef B\n2\n#elifndef A\n3\n#endif\n"
    assert read(tmp_path, text) == ("2", [])
    assert read(tmp_path, text.replace("#define B\n", "")) == ("3", [])


def test_what_is_no_number_is_an_error_only_in_the_program(tmp_path: Path) -> None:
    text = "#if 0\n10Gbps don't 0b12\n#endif\n#warning 10Gbps\n#define BAD 10Gbps\na\n"
    assert read(tmp_path, text) == ("a", ["4:2: #warning 10Gbps"])
    with pytest.raises(P4Error, match="'10Gbps' is not a number"):
        read(tmp_path, f"{text}BAD\n")


def test_paste_may_make_a_number(tmp_path: Path) -> None:
    text = "#define HEX(digits) 0x##digits\nHEX(ff)"
    assert read(tmp_path, text) == ("0xff", [])
