"""bf-p4c: options, files and exit statuses of the compiler's driver. Its output fits no chip."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .machine import here


def main(argv: list[str]) -> int:
    machine = here()
    if "--version" in argv:
        print(f"p4c {machine.version()} (SHA: fake)")
        return 0
    words, output, source = argv[1:], None, None
    while words:
        word = words.pop(0)
        if word in ("-o", "--target", "--arch", "--std", "-I", "-D", "--num-stages-override"):
            value = words.pop(0)
            output = Path(value) if word == "-o" else output
        elif not word.startswith("-"):
            source = Path(word)
    if source is None or not source.is_file():
        print(f"error: {source}: No such file or directory", file=sys.stderr)
        return 2
    output = output or Path(f"{source.stem}.tofino")
    failed = machine.settings["compiler_status"]
    if "#error" in source.read_text():
        failed = 1
    write(output, source.stem, machine, failed == 0)
    if failed:
        print(
            f"{source}(1): [--Werror=type-error] error: program does not compile", file=sys.stderr
        )
        print("failed command compiler", file=sys.stderr)
    return int(failed)


def write(output: Path, name: str, machine: Any, succeeded: bool) -> None:
    logs = output / "pipe" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {
        "manifest.json": manifest(name, machine.version(), succeeded),
    }
    if succeeded:
        files |= {
            "bfrt.json": {"schema_version": "1.0.0", "tables": [], "learn_filters": []},
            "pipe/context.json": {"program_name": name, "tables": []},
            "pipe/logs/resources.json": {"resources": {"mau": {"nStages": 12, "mau_stages": []}}},
            "pipe/logs/phv.json": {"containers": []},
            "pipe/logs/metrics.json": {"mau": {"srams": 0, "tcams": 0}},
            f"{name}.conf": conf(name),
        }
    for path, document in files.items():
        (output / path).write_text(json.dumps(document, indent=1))
    if succeeded and not machine.settings["compiler_leaves_no_binary"]:
        (output / "pipe" / "tofino.bin").write_bytes(b"fake")


def manifest(name: str, version: str, succeeded: bool) -> dict[str, Any]:
    resources = [{"path": f"pipe/logs/{kind}.json", "type": kind} for kind in ("resources", "phv")]
    files = {
        "context": {"path": "pipe/context.json"},
        "binary": {"path": "pipe/tofino.bin"},
        "resources": resources,
        "metrics": {"path": "pipe/logs/metrics.json"},
        "graphs": [],
        "logs": [],
    }
    return {
        "schema_version": "3.0.0",
        "target": "tofino",
        "compiler_version": version,
        "compilation_succeeded": succeeded,
        "target_data": {"architecture": "tna", "conf_file": f"{name}.conf"},
        "programs": [{"program_name": name, "pipes": [{"pipe_name": "pipe", "files": files}]}],
    }


def conf(name: str) -> dict[str, Any]:
    """Paths as the compiler writes them: relative to an install directory that the program is not
    in.
    """
    return {
        "chip_list": [{"id": "asic-0", "chip_family": "tofino", "instance": 0}],
        "instance": 0,
        "p4_devices": [
            {
                "device-id": 0,
                "p4_programs": [
                    {
                        "program-name": name,
                        "bfrt-config": f"share/tofinopd/{name}/bf-rt.json",
                        "p4_pipelines": [
                            {
                                "p4_pipeline_name": "pipe",
                                "context": f"share/tofinopd/{name}/pipe/context.json",
                                "config": f"share/tofinopd/{name}/pipe/tofino.bin",
                                "pipe_scope": [0, 1, 2, 3],
                                "path": f"share/tofinopd/{name}",
                            }
                        ],
                    }
                ],
            }
        ],
    }
