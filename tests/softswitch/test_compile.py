"""`p4soft compile`: a library with its descriptions, and what a stranger's program may take."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from p4soft import cli
from p4soft.errors import P4Error
from p4soft.run import compile_command

from .conftest import P4SOFT, Command
from .test_cache import SCRIPT


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command: Command = [*P4SOFT, "compile", *words]
    given = {**os.environ, **environment}
    return subprocess.run(
        command, capture_output=True, text=True, env=given, timeout=60, check=False
    )


def line_of_include(source: Path) -> int:
    return source.read_text().splitlines().index("#include <out.p4>") + 1


@pytest.fixture
def compiler(tmp_path: Path) -> Path:
    path = tmp_path / "compiler"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    return path


def test_a_library_and_its_descriptions(
    build_dir: Path, source: Path, compiler: Path, tmp_path: Path
) -> None:
    include = ["-I", source.parent / "include", "--output"]
    output, translated = tmp_path / "output", tmp_path / "translated"
    done = run(source, *include, output, "--cache-dir", tmp_path / "cache", CXX=str(compiler))
    assert (done.returncode, done.stderr) == (0, "")
    names = ["forward.bfrt.json", "forward.p4info.txtpb", "forward.so"]
    assert sorted(path.name for path in output.iterdir()) == names
    subprocess.run([*P4SOFT, "translate", source, *include, translated], check=True)
    for name in names[:2]:
        assert (output / name).read_text() == (translated / name).read_text()


def test_what_is_wrong_is_told_by_its_status(
    build_dir: Path, source: Path, compiler: Path, tmp_path: Path
) -> None:
    output = ["--output", tmp_path / "output", "--cache-dir", tmp_path / "cache"]
    wrong = run(source, *output)
    assert wrong.returncode == 1
    assert f"{source}:{line_of_include(source)}:" in wrong.stderr
    assert "error: cannot find 'out.p4'" in wrong.stderr
    assert run(tmp_path / "none.p4", *output).returncode == 2
    compiler.write_text(SCRIPT.replace("for file", "echo 'no such type' >&2; exit 1; for file"))
    include = ["-I", source.parent / "include"]
    failed = run(source, *include, *output, CXX=str(compiler))
    assert failed.returncode == 3
    assert "no such type" in failed.stderr


def test_a_confined_program_is_limited(
    build_dir: Path, source: Path, compiler: Path, tmp_path: Path
) -> None:
    """As a shell, which the compiler is here, says limits: KiB, seconds, blocks of 512 bytes."""
    limits = tmp_path / "limits"
    ask = "for each in v t f c; do ulimit -H -$each; done >$LIMITS; for file"
    compiler.write_text(SCRIPT.replace("for file", ask))
    source.write_text(
        source.read_text().replace("#include <out.p4>", "const PortId_t OUT_PORT = 2;")
    )
    output = ["--output", tmp_path / "output", "--cache-dir", tmp_path / "cache", "--confined"]
    done = run(source, *output, CXX=str(compiler), LIMITS=str(limits))
    assert (done.returncode, done.stderr) == (0, "")
    assert limits.read_text().split() == ["3145728", "300", "524288", "0"]


def test_a_confined_program_includes_what_p4soft_brings_alone(tmp_path: Path) -> None:
    """By no name, and the answer does not tell whether there is such a file."""
    secret = tmp_path / "secret.p4"
    secret.write_text("secret\n")
    (tmp_path / "link.p4").symlink_to(secret)
    program = tmp_path / "program.p4"
    names = [
        *("secret.p4", "link.p4", "none.p4", "program.p4", "./tna.p4", "../cli.py", ""),
        *(str(secret), str(tmp_path / "none.p4"), "../" * 30 + str(secret).removeprefix("/")),
        *("/proc/self/environ", "/dev/stdin", f"{tmp_path}/../{tmp_path.name}/secret.p4"),
    ]
    includes = [f'"{name}"' for name in names] + [f"<{name}>" for name in names if name]
    for include in includes:
        program.write_text(f"#include {include}\n")
        with pytest.raises(P4Error) as refused:
            cli.translate(program, [tmp_path], {}, confined=True)
        allowed = "core.p4, tna.p4, tofino1_arch.p4, tofino1_base.p4, tofino1_specs.p4"
        assert (
            refused.value.message == f"'{include[1:-1]}' may not be included; these may: {allowed}"
        )
    for text in ('#define IT "{0}"\n#include IT\n', "#define IT(x) x\n#include IT(<{0}>)\n"):
        program.write_text(text.format(secret))
        with pytest.raises(P4Error, match="' may not be included; these may: core"):
            cli.translate(program, [tmp_path], {}, confined=True)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (MemoryError(), "the program takes more memory than there is"),
        (KeyError("no such place"), "KeyError: 'no such place'"),
    ],
)
def test_a_translator_that_fails_does_not_call_the_program_wrong(
    build_dir: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: Exception,
    message: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(cli, "translated", fail)
    assert compile_command.main([str(source), "--output", str(source.parent)]) == 3
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--output", "--cache-dir"])
def test_a_directory_that_cannot_be_made_is_wrong_usage(
    build_dir: Path, source: Path, compiler: Path, tmp_path: Path, option: str
) -> None:
    """Before anything is compiled."""
    compiled = tmp_path / "compiled"
    compiler.write_text(SCRIPT.replace("for file", f"touch {compiled}; for file"))
    directories = {"--output": tmp_path / "output", "--cache-dir": tmp_path / "cache"}
    directories[option] = source
    words = [word for pair in directories.items() for word in pair]
    done = run(source, "-I", source.parent / "include", *words, CXX=str(compiler))
    assert done.stderr == (
        f"p4soft: {option} {source}: File exists; expected a directory, or a place for one\n"
    )
    assert (done.returncode, compiled.exists()) == (2, False)
