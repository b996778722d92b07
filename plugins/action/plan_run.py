"""Plans a run, or continues one.

Spec + profile + extra variables -> cells x rounds x iterations, less what the journal has.

    plan_run: {experiment: farreach/exp01_throughput, repository: DIR, build: DIR, results: DIR}

Creates results/<experiment>/<run>/ with manifest.json and plan.json. Returns `run` (directory,
name, options) and `turns`: for each round of each cell the iterations that are still missing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from ansible.utils.vars import load_extra_vars

from turntable_core import claim, journal, lock, overrides, plan
from turntable_core.analyzer import WorkloadAnalyzer
from turntable_core.checks import check_plan
from turntable_core.errors import TurntableError
from turntable_core.manifest import make_manifest
from turntable_core.owner import Owner, new_owner
from turntable_core.run_action import RunAction
from turntable_core.run_directory import RunDirectory, new_run_name
from turntable_core.spec import choose_profile, load_experiment
from turntable_core.testbed import Testbed, read_testbed

# Extra variables that belong to Ansible and to the inventory, which have their own checks.
TESTBED_PREFIXES = ("ansible_", "turntable_")


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "experiment": {"type": "str", "required": True},
        "repository": {"type": "path", "required": True},
        "build": {"type": "path", "required": True},
        "results": {"type": "path", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        repository = Path(arguments["repository"])
        experiment = load_experiment(repository / "experiments" / f"{arguments['experiment']}.yml")
        extra_vars = dict(load_extra_vars(self._loader))
        options = overrides.read_options(extra_vars)
        scale = overrides.apply_overrides(
            choose_profile(experiment, options.profile),
            extra_vars,
            lambda name: name.startswith(TESTBED_PREFIXES),
        )
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        cells = plan.cells_of(scale)
        check_plan(cells, testbed, str(experiment.file))

        results = Path(arguments["results"]) / experiment.id
        run = RunDirectory(results / (options.run or new_run_name(options.profile)))
        continued = run.exists
        if continued:
            run_plan, manifest = run.continue_with(cells, scale.rounds), None
        else:
            build = Path(arguments["build"])
            analyzer = WorkloadAnalyzer(
                build / "bin" / "workload-analyze", scale.deadlines["configure"]
            )
            run_plan = plan.make_plan(scale, cells, analyzer.predict)
            connections = {
                host.name: task_vars["hostvars"][host.name].get("ansible_connection", "ssh")
                for host in testbed.hosts
            }
            manifest = make_manifest(
                repository, build, testbed, extra_vars, experiment.file, connections
            )

        owner = new_owner(run.path.name, experiment.id)
        turns = _missing_turns(run_plan, run.attempts())
        with self.held(testbed, owner, task_vars) if turns else nullcontext():
            if manifest:
                run.create(run_plan, manifest)
            if turns:
                claim.claim(run.path, owner)
            run.use_testbed(testbed)
            # Again: another playbook may have worked on this run until it gave the testbed back.
            attempts = run.attempts()
            turns = _missing_turns(run_plan, attempts)
        _point_latest(results.parent / "latest", run.path)

        left = sum(len(turn["iterations"]) for turn in turns)
        state = "continued" if continued else "planned"
        return {
            "changed": not continued,
            "run": {
                "directory": str(run.path),
                "name": run.path.name,
                "attempts": len(attempts),
                "max_attempts": options.max_attempts,
                "fail_on_invalid": options.fail_on_invalid,
            },
            "turns": turns,
            "report": f"run {run.path.name} {state}: {left} of {run_plan.iteration_count} "
            f"iterations to measure, in {run.path}",
        }

    def held(
        self, testbed: Testbed, owner: Owner, task_vars: dict[str, Any]
    ) -> AbstractContextManager[None]:
        """The testbed's lock, kept for the run unless the body fails."""
        return lock.taken(self.connections(task_vars), testbed, owner)


def _missing_turns(run_plan: plan.Plan, attempts: list[journal.Attempt]) -> list[dict[str, Any]]:
    turns: dict[tuple[str, int], dict[str, Any]] = {}
    for turn, iteration in journal.missing(run_plan, attempts):
        parameters = turn.cell.parameters
        entry = turns.setdefault(
            (turn.cell.id, turn.round),
            {
                "cell": turn.cell.id,
                "round": turn.round,
                "label": f"{parameters['workload']} {parameters['method']} "
                f"{parameters['servers']}, round {turn.round}",
                "iterations": [],
            },
        )
        entry["iterations"].append(iteration.index)
    return list(turns.values())


def _point_latest(link: Path, target: Path) -> None:
    """results/latest, for people; nothing depends on it."""
    temporary = link.with_name(f".latest.{target.name}")
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target.relative_to(link.parent))
        temporary.replace(link)
    except OSError as error:
        raise TurntableError(f"{link}: cannot point to {target}: {error}") from None
