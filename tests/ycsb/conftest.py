"""The programs under test, and YCSB's own classes, built by Maven."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
MAVEN_DEADLINE_S = 110


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "tests" / "ycsb-evaluate").exists():
        pytest.fail(
            f"no ycsb-evaluate in {path}/tests; run `make build` or set TURNTABLE_BUILD_DIR"
        )
    return path


@pytest.fixture(scope="session")
def workload_analyze(build_dir: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [build_dir / "bin" / "workload-analyze", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    return run


@pytest.fixture(scope="session")
def evaluate(build_dir: Path) -> Callable[[list[str]], list[str]]:
    """Our answers to questions in the language of src/workload/ycsb_evaluate.cc."""

    def run(questions: list[str]) -> list[str]:
        done = subprocess.run(
            [build_dir / "tests" / "ycsb-evaluate"],
            input="\n".join(questions) + "\n",
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout.splitlines()

    return run


@pytest.fixture(scope="session")
def classpath(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of YCSB's core and CrossCheck."""
    return _compile(tmp_path_factory.mktemp("ycsb-build"))


@pytest.fixture(scope="session")
def crosscheck(
    classpath: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., list[str]]:
    """The lines that the Java program CrossCheck writes for a command."""
    answers = tmp_path_factory.mktemp("ycsb") / "answers"

    def run(command: str, *arguments: str) -> list[str]:
        java = [
            "java",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-cp",
            classpath,
            "site.ycsb.workloads.CrossCheck",
            command,
            str(answers),
            *arguments,
        ]
        subprocess.run(java, check=True, timeout=120)
        return answers.read_text().splitlines()

    return run


def _compile(build: Path) -> str:
    """Compile CrossCheck; the class path to run it with. The network is used only if needed."""
    if shutil.which("mvn") is None:
        pytest.fail("mvn is not installed; run `make setup`")
    maven = ["mvn", "-q", "-B", f"-f={HERE / 'pom.xml'}", f"-Dcrosscheck.build={build}", "compile"]
    for options in (["-o"], []):
        done = subprocess.run(
            [*maven, *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=MAVEN_DEADLINE_S,
        )
        if done.returncode == 0:
            return f"{build / 'classes'}:{(build / 'classpath').read_text().strip()}"
    pytest.fail(
        "Maven could not build tests/ycsb; it needs Maven Central once, for its dependencies:\n"
        + done.stdout[-4000:]
    )
