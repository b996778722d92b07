"""YCSB 0.17.0, the yardstick of the clients and of the analysis: compiled and run."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from .comparison import NotRunError
from .processes import Argv, need, run

PROJECT = Path(__file__).resolve().parents[1] / "ycsb"
MAVEN_DEADLINE_S = 110


@functools.cache
def classpath(build: Path) -> str:
    """Compiles bench/ycsb into build/bench-ycsb; NotRunError if that would need the network."""
    need("mvn", "maven")
    need("java", "openjdk-17-jdk-headless")
    target = build / "bench-ycsb"
    compile_it = [
        "mvn",
        "-q",
        "-B",
        f"-f={PROJECT / 'pom.xml'}",
        f"-Dbench.build={target}",
        "compile",
    ]
    done = subprocess.run(
        [*compile_it, "-o"],
        capture_output=True,
        text=True,
        check=False,
        timeout=MAVEN_DEADLINE_S,
    )
    if done.returncode != 0:
        raise NotRunError(
            f"Maven has no copy of YCSB 0.17.0 and its compiler yet; fetch them once with"
            f" `{' '.join(compile_it)}`"
        )
    return f"{target / 'classes'}:{(target / 'classpath').read_text().strip()}"


def java_cpu_s(build: Path, prefix: Argv, arguments: list[str]) -> float:
    """Processor time of a JVM in seconds, started by `prefix` (a namespace, a processor)."""
    return run([*prefix, "java", "-cp", classpath(build), *arguments]).cpu_s


def ycsb_cpu_s(
    build: Path,
    prefix: Argv,
    database: str,
    threads: int,
    properties: dict[str, object],
    operations: int,
) -> float:
    """Processor time of YCSB's client for so many operations of workload A; all must succeed."""
    given: dict[str, object] = {
        "workload": "site.ycsb.workloads.CoreWorkload",
        "recordcount": 100_000_000,
        "operationcount": operations,
        "fieldcount": 1,
        "fieldlength": 128,
        "readproportion": 0.5,
        "updateproportion": 0.5,
        "scanproportion": 0,
        "insertproportion": 0,
        "requestdistribution": "zipfian",
        **properties,
    }
    options = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    client = ["site.ycsb.Client", "-t", "-db", database, "-threads", str(threads), *options]
    done = run([*prefix, "java", "-cp", classpath(build), *client])
    succeeded = operations_that_succeeded(done.output)
    if succeeded != operations:
        raise RuntimeError(
            f"YCSB: {succeeded} of {operations} operations succeeded, expected all:\n"
            + done.output[-2000:]
        )
    return done.cpu_s


def operations_that_succeeded(output: str) -> int:
    """The sum of `[READ], Return=OK, 5` and its like in what YCSB's client prints."""
    rows = (line.split(", ") for line in output.splitlines() if ", Return=OK, " in line)
    return sum(int(count) for _, _, count in rows)
