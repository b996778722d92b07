"""The preprocessor: what the C preprocessor of the Tofino compiler (`cpp -x assembler-with-cpp`)
does with the same lines.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from p4soft.errors import P4Error, P4Warning
from p4soft.frontend.lexer import Kind, tokenize
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


def test_mark_of_the_order_of_bytes_is_no_text(tmp_path: Path) -> None:
    assert read(tmp_path, '\ufeff#include "part.h"\na', part="\ufeffb\n") == ("b a", [])


def test_paste_may_make_a_number(tmp_path: Path) -> None:
    text = "#define HEX(digits) 0x##digits\nHEX(ff)"
    assert read(tmp_path, text) == ("0xff", [])


def as_cpp(directory: Path, text: str) -> str:
    """The same by the C preprocessor, called as the Tofino compiler calls it."""
    command = ["cpp", "-undef", "-nostdinc", "-P", "-x", "assembler-with-cpp", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    plain = directory / "preprocessed.p4"
    plain.write_text(done.stdout)
    return " ".join(token.text for token in tokenize(done.stdout, str(plain))[:-1])


MACROS = {
    "what follows a macro may be the arguments of what it stands for": (
        "#define TWICE(x) x x\n#define ALSO TWICE\nALSO(a) b\n"
    ),
    "a macro is a name in its own text, in an argument too": (
        "#define hdr hdr.inner\n#define SAME(x) x\nSAME(hdr.a) hdr\n"
    ),
    "nor do two macros stand for each other for ever": (
        "#define a b + 1\n#define b a + 2\n#define ID(x) x\nID(a) ID(b) ID(ID(a))\n"
    ),
    "only parentheses hold commas together": (
        "#define PAIR(x, y) y x\nPAIR([1, 2]) PAIR({ 3, 4 }) PAIR((5, 6), 7)\n"
    ),
    "brackets do not end arguments": "#define ID(x) x\nID(a]) ID(}) ID([)\n",
    "nothing between two ##": "#define JOIN(x, y, z) x##y##z\nJOIN(a, , b) JOIN(, , c) JOIN(d,,)\n",
    "the rest of the arguments": (
        "#define CALL(f, ...) f(__VA_ARGS__)\nCALL(a, b, c) CALL(d,) CALL(e)\n"
    ),
    "a line that ends with \\ goes on, in a comment too": "a // to C:\\\nb\nc // d \\ \ne\nf\n",
    "a name of arguments without them": "#define F(x) x\nF F\n(1) F + (2)\n",
}


@pytest.mark.parametrize("name", MACROS)
def test_macros_are_those_of_the_c_preprocessor(name: str, tmp_path: Path) -> None:
    assert read(tmp_path, MACROS[name]) == (as_cpp(tmp_path, MACROS[name]), [])


CONDITIONS = """\
-7 / 2 == -3 | -7 % 2 == -1 | 7 / -2 == -3 | 8 >> 1 == 4 | -8 >> 1 == -4 | 1 >> 64 == 0
0 && 1 / 0 | 1 || 1 % 0 | NONE ? 1 / 0 : 5 == 5 | (1 ? 2 : 3) == 2 | 0 ? 1 : 0 ? 2 : 3
010 == 8 | 16UL == 0x10 | 1u > -1 | -1 == 0xFFFFFFFFFFFFFFFF | ~0 == ~0u | 1 << 63 < 0
1 << 64 | 1 << 99999999999 | 9223372036854775807 + 1 < 0 | HAS && !HAS_NOT | defined HERE + 1 == 2
"""


@pytest.mark.parametrize("condition", CONDITIONS.replace("\n", " | ").strip(" |").split(" | "))
def test_conditions_are_those_of_the_c_preprocessor(condition: str, tmp_path: Path) -> None:
    text = (
        f"#define HERE\n#define HAS defined(HERE)\n#define HAS_NOT defined NONE\n#if {condition}\n"
    )
    text += "yes\n#else\nno\n#endif\n"
    assert read(tmp_path, text)[0] == as_cpp(tmp_path, text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("#if 1 / 0", "1:7: error: the condition of #if divides by zero"),
        ("#if 08", "1:5: error: '08' is no number in the condition of #if"),
        ("#if 10Gbps", "1:5: error: '10Gbps' is no number in the condition of #if"),
        ("#if 1 ? 2", "1:7: error: '?' without ':' in the condition of #if"),
        ("#if defined(A", "1:5: error: expected defined NAME or defined(NAME)"),
        ("#if defined", "1:5: error: #defined needs the name of a macro"),
        ("#if 0x10000000000000000", "has more than 64 bits"),
        ("#define F(x y)", "1:13: error: unexpected 'y' in the parameters of a macro"),
        ("#define F(x, x)", "1:14: error: unexpected 'x' in the parameters of a macro"),
        ("#define F(x,)", "1:12: error: unexpected ',' in the parameters of a macro"),
        ("#define F(..., x)", "1:11: error: unexpected '...' in the parameters of a macro"),
    ],
)
def test_wrong_directives(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(P4Error) as error:
        read(tmp_path, f"{line}\n#endif\n")
    assert message in str(error.value)
