"""P4 programs to shared libraries that `p4run` loads. Not optimised: the compiler's time counts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO

from p4soft.cli import translate

REPOSITORY = Path(__file__).resolve().parents[2]
FLAGS = [
    "-std=c++20", "-O0", "-fPIC", "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter",
    "-Wno-tautological-compare", "-Wno-type-limits", "-Werror",
    *os.environ.get("TURNTABLE_P4_TEST_FLAGS", "").split(),  # for example -fsanitize=undefined
]  # fmt: skip
RUNTIME_HEADER = "dataplane/generated_program.h"


def precompile_runtime(directory: Path) -> None:
    """The runtime's headers are most of what a small program compiles."""
    header = directory / "include" / f"{RUNTIME_HEADER}.gch"
    header.parent.mkdir(parents=True)
    source = REPOSITORY / "src" / RUNTIME_HEADER
    header.with_suffix("").symlink_to(source)  # found where it is included once more
    include = f"-I{REPOSITORY / 'src'}"
    subprocess.run(
        ["c++", *FLAGS, "-w", include, "-x", "c++-header", str(source), "-o", str(header)],
        check=True,
    )


def compile_program(
    source: Path,
    include: list[Path],
    directory: Path,
    build_dir: Path,
    *,
    traced: bool = False,
    poisoned: bool = False,
    messages: IO[str] | None = None,
) -> Path:
    """NAME.so, or NAME.trace.so, in `directory`, where precompile_runtime was, from NAME.p4; beside
    it NAME.bfrt.json and NAME.p4info.txtpb.

    In a poisoned one the fields of headers that become valid hold a pattern
    (src/dataplane/poison.h). messages: where the C++ compiler writes its own; None: standard error.
    Raises P4Error.
    """
    made = translate(source, include, {})
    generated = directory / f"{source.stem}.cpp"
    generated.write_text(made.code)
    generated.with_suffix(".bfrt.json").write_text(made.schema)
    generated.with_suffix(".p4info.txtpb").write_text(made.p4info)
    library = generated.with_suffix(".trace.so" if traced else ".so")
    defines = {"-DTURNTABLE_TRACE": traced, "-DTURNTABLE_POISON": poisoned}
    flags = [*FLAGS, *(define for define, wanted in defines.items() if wanted)]
    runtime = build_dir / "src" / "dataplane" / "libturntable_dataplane.a"
    includes = [f"-I{directory / 'include'}", f"-I{REPOSITORY / 'src'}"]
    subprocess.run(
        ["c++", *flags, "-shared", *includes, str(generated), str(runtime), "-o", str(library)],
        check=True,
        stderr=messages,
    )
    return library
