"""playbooks/tasks/turn.yml with a system whose tasks only say that they were reached: a turn that
cannot be configured is refused, the next one begins with new nodes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from turntable_core import journal
from turntable_core.plan import Plan
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale

from .plans import make_plan
from .recorded import write_run
from .test_analysis import measure

REPOSITORY = Path(__file__).resolve().parents[2]
DEADLINE_S = 300
REASON = "host server0: this machine has no such thing"

PLAYBOOK = f"""
- name: Turns
  hosts: localhost
  vars:
    turntable_loaded_program: "{{{{ (turntable_plan.turns | first).program }}}}"
  tasks:
    - ansible.builtin.include_tasks: {REPOSITORY}/playbooks/tasks/turn.yml
      loop: "{{{{ turntable_plan.turns }}}}"
      loop_control:
        loop_var: turntable_turn
"""
# Notes that it was reached, and fails where the test says so.
REACH = """
import json, pathlib, shutil
from ansible.plugins.action import ActionBase

class ActionModule(ActionBase):
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        log = pathlib.Path(self._task.args["log"])
        what, directory = self._task.args["what"], self._task.args.get("directory")
        count = log.read_text().splitlines().count(what) if log.exists() else 0
        with log.open("a") as lines:
            lines.write(what + "\\n")
        failures = json.loads(log.with_name("failures.json").read_text())
        if failure_class := failures.get(f"{what} #{count + 1}"):
            message = log.with_name("reason").read_text()
            return {
                "failed": True, "msg": message, "failure_class": failure_class,
                "self_explanatory": True,
            }
        if directory:
            shutil.copy(log.with_name("sender0.json"), directory)
        return {"changed": True, "start_at_ns": 5 * 10**9}
"""
TASK = """
- name: Do {what}
  reach:
    log: "{{{{ turntable_log }}}}"
    what: "{what}{of_turn}"
    directory: "{directory}"
  register: turntable_measured
"""


@pytest.fixture
def plan(scale: Scale) -> Plan:
    """Two cells, two rounds, four iterations."""
    return make_plan(scale)


@pytest.fixture
def run(tmp_path: Path, plan: Plan) -> RunDirectory:
    return write_run(tmp_path / "results" / "tiny" / "r1", plan)


@dataclass(frozen=True)
class Played:
    status: int
    output: str
    reached: list[str]


def play(
    tmp_path: Path,
    run: RunDirectory,
    plan: Plan,
    failures: dict[str, str],
    programs: dict[str, str] | None = None,
) -> Played:
    """failures: "configure A0 #1" -> class; programs: "A0" -> that of the switch, which has the
    first turn's. Turns are named by cell, A and B, and round.
    """
    example = write_run(tmp_path / "example", plan)
    measure(example, plan.turns[0], 0, [[10, 5]])
    shutil.copy(next(example.path.glob("raw/**/sender0.json")), tmp_path)
    (tmp_path / "failures.json").write_text(json.dumps(failures))
    (tmp_path / "reason").write_text(REASON)
    _write_tasks(tmp_path)
    (tmp_path / "action_plugins").mkdir()
    (tmp_path / "action_plugins/reach.py").write_text(REACH)
    (tmp_path / "playbook.yml").write_text(PLAYBOOK)
    cells = list(dict.fromkeys(turn.cell.id for turn in plan.turns))
    turns = [
        {
            "cell": turn.cell.id,
            "round": turn.round,
            "label": (label := f"{'AB'[cells.index(turn.cell.id)]}{turn.round}"),
            "program": programs[label] if programs else "",
            "iterations": [0, 1, 2, 3],
        }
        for turn in plan.turns
    ]
    variables = {
        "turntable_log": str(tmp_path / "log"),
        "turntable_plan": {
            "run": {
                "directory": str(run.path), "attempts": 0, "only": None, "repeats": 0,
                "max_attempts": 2,
            },
            "system": {"tasks": str(tmp_path), "has": {"configure": True, "after": False}},
            "turns": turns,
        },
    }  # fmt: skip
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("ansible-playbook")), "-ilocalhost,"),
            *("-clocal", "-e", json.dumps(variables), str(tmp_path / "playbook.yml")),
        ],
        cwd=REPOSITORY,
        env=os.environ
        | {"LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1", "COLUMNS": "200"}
        | {
            "TURNTABLE_SYSTEMS": str(REPOSITORY / "tests/run/fakes"),
            "ANSIBLE_ROLES_PATH": str(tmp_path / "roles"),
        },
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return Played(
        done.returncode, done.stdout + done.stderr, (tmp_path / "log").read_text().split("\n")[:-1]
    )


def _write_tasks(directory: Path) -> None:
    """Those of the system, and the roles that end nodes and give the switch a program."""
    of_turn = " {{ turntable_turn.label }}"
    supervisor, switch = (directory / f"roles/{role}/tasks" for role in ("supervisor", "switch"))
    for role in (supervisor, switch):
        role.mkdir(parents=True)
    for place, what, told, to in (
        (supervisor, "clear", "", ""),
        (switch, "change_program", " {{ turntable_turn.program }}", ""),
        (directory, "start", "", ""),
        (directory, "configure", of_turn, ""),
        (directory, "measure", of_turn, "{{ turntable_attempt.directory }}"),
    ):
        text = TASK.format(what=what, of_turn=told, directory=to)
        (place / f"{what}.yml").write_text(text)


def status(run: RunDirectory) -> list[str]:
    return [attempt.status for attempt in run.attempts()]


def test_a_refused_configuration_refuses_its_turn_and_the_run_goes_on(
    tmp_path: Path, run: RunDirectory, plan: Plan
) -> None:
    played = play(tmp_path, run, plan, {"configure A0 #1": "unsupported"})
    assert played.status == 0, played.output
    assert played.reached == [
        "configure A0", "clear", "start",
        "configure B0", *["measure B0"] * 4,
        "configure B1", *["measure B1"] * 4,
    ]  # fmt: skip
    assert status(run) == [journal.REFUSED] * 4 + [journal.OK] * 8
    assert {attempt.message for attempt in run.attempts()[:4]} == {REASON}


def test_a_configuration_that_is_refused_after_a_failure_refuses_what_is_left(
    tmp_path: Path, run: RunDirectory, plan: Plan
) -> None:
    failures = {"measure A0 #2": "timeout", "configure A0 #2": "unsupported"}
    played = play(tmp_path, run, plan, failures)
    assert played.status == 0, played.output
    assert played.reached[:9] == [
        "configure A0", *["measure A0"] * 2, "clear", "start", "configure A0",
        "clear", "start", "configure A1",
    ]  # fmt: skip
    first = [(attempt.key[2], attempt.status) for attempt in run.attempts()[:5]]
    assert first == [(0, "ok"), (1, "failed"), (1, "refused"), (2, "refused"), (3, "refused")]
    assert status(run)[5:] == [journal.OK] * 12  # A1 too: the testbed could do it


def test_any_other_failure_to_configure_ends_the_run_and_is_told_once(
    tmp_path: Path, run: RunDirectory, plan: Plan
) -> None:
    played = play(tmp_path, run, plan, {"configure A0 #1": "timeout"})
    assert played.status != 0
    assert played.reached == ["configure A0"]
    assert run.attempts() == []
    assert played.output.count(REASON) == 1


def test_the_switch_gets_the_turns_program_though_turns_before_it_are_left_out(
    tmp_path: Path, run: RunDirectory, plan: Plan
) -> None:
    programs = {"A0": "one", "B0": "one", "A1": "another", "B1": "another"}
    played = play(tmp_path, run, plan, {"configure A0 #1": "unsupported"}, programs)
    assert played.status == 0, played.output
    assert played.reached == [
        "configure A0", "clear", "start",
        "configure B0", *["measure B0"] * 4,
        "change_program another", "configure B1", *["measure B1"] * 4,
    ]  # fmt: skip


def test_the_switch_keeps_its_program_where_only_turns_left_out_have_another(
    tmp_path: Path, run: RunDirectory, plan: Plan
) -> None:
    programs = {"A0": "one", "B0": "another", "A1": "one", "B1": "another"}
    played = play(tmp_path, run, plan, {"configure A0 #1": "unsupported"}, programs)
    assert played.status == 0, played.output
    assert [what for what in played.reached if "program" in what] == ["change_program another"]
