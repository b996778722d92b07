"""Plans a run, or continues one, and takes the testbed for it.

Spec + profile + extra variables -> cells x rounds x iterations, less what the journal has.

    plan_run: {experiment: farreach/exp01_throughput, repository: DIR, build: DIR, results: DIR}

Creates results/<experiment>/<run>/ with manifest.json and plan.json. Returns `run` (directory,
name, options) and `turns`: for each round of each cell the iterations to be measured. In check mode
it only reports plan and estimate: it writes nothing and does not ask the testbed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from ansible.utils.vars import load_extra_vars

from turntable_core import caller, claim, estimate, labels, lock, preview, programs, selection
from turntable_core.analyzer import WorkloadAnalyzer
from turntable_core.components.softswitch import program_of
from turntable_core.errors import TurntableError
from turntable_core.estimate import Work
from turntable_core.manifest import make_manifest
from turntable_core.methods import caches, crash_of
from turntable_core.overrides import ExtraVars
from turntable_core.owner import Owner, new_owner
from turntable_core.plan import Plan, Prediction
from turntable_core.proposal import Proposal, propose
from turntable_core.run_action import RunAction
from turntable_core.testbed import Testbed, read_testbed
from turntable_core.wait_notice import CountingNotice
from turntable_inventory.read import place_of


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "experiment": {"type": "str", "required": True},
        "repository": {"type": "path", "required": True},
        "build": {"type": "path", "required": True},
        "results": {"type": "path", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        repository, build = Path(arguments["repository"]), Path(arguments["build"])
        results = Path(arguments["results"])
        extra = _extra_vars(load_extra_vars(self._loader))
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        file = repository / "experiments" / f"{arguments['experiment']}.yml"
        proposal = propose(file, extra, testbed, results)
        program = build / "bin" / "workload-analyze"
        plan = proposal.plan(_predicting(program, proposal))
        work = _work(proposal, plan)
        if self._task.check_mode:
            return {"changed": False, "report": _preview(proposal, plan, work, testbed, results)}

        run, is_new, manifest = proposal.run, proposal.is_new, None
        if is_new:
            connections = {
                host.name: task_vars["hostvars"][host.name].get("ansible_connection", "ssh")
                for host in testbed.hosts
            }
            manifest = make_manifest(
                repository, build, testbed, extra.values, proposal.experiment.file, connections
            )
        owner = new_owner(run.path.name, proposal.experiment.id)
        with self.held(testbed, owner, task_vars) if work else nullcontext():
            if work:
                programs.require_build(self.connections(task_vars), testbed, build)
            if manifest:
                run.create(plan, manifest)
            if work:
                claim.sweep(results)
                claim.claim(run.path, owner)
            run.use_testbed(testbed)
            caller.give_tree(run.path)  # what root itself left of this run
            # Again: another playbook may have worked on this run until it gave the testbed back.
            work = _work(proposal, plan)
        _point_latest(results / "latest", run.path)
        options = proposal.options
        chosen = f"\n{selection.describe(plan, work)}" if options.only else ""
        return {
            "changed": is_new,
            "run": {
                "directory": str(run.path),
                "name": run.path.name,
                "only": options.only,
                "attempts": len(run.attempts()),
                "max_attempts": options.max_attempts,
                "fail_on_invalid": options.fail_on_invalid,
            },
            "turns": _turns(plan, work),
            "report": f"run {run.path.name} {'planned' if is_new else 'continued'}: {len(work)} of "
            f"{plan.iteration_count} iterations to measure, in {run.path}{chosen}",
        }

    def held(
        self, testbed: Testbed, owner: Owner, task_vars: dict[str, Any]
    ) -> AbstractContextManager[None]:
        """The testbed's lock, kept for the run unless the body fails."""
        return lock.taken(self.connections(task_vars), testbed, owner)


def _extra_vars(values: Mapping[str, Any]) -> ExtraVars:
    """With the file and line of those from -e @FILE."""
    places = {str(name): place_of(name, value) for name, value in values.items()}
    in_files = {name: f"extra variable, {place}" for name, place in places.items() if ":" in place}
    return ExtraVars(dict(values), in_files)


def _predicting(program: Path, proposal: Proposal) -> Callable[..., Prediction]:
    """As make_plan takes it; says how far it is when that takes a while."""
    notice = CountingNotice(len(proposal.cells) * proposal.scale.rounds)
    deadline_s = proposal.scale.deadlines["configure"]
    analyzer = WorkloadAnalyzer(program, deadline_s, notice.show_if_due)

    def predict(parameters: Mapping[str, Any], round_: int) -> Prediction:
        prediction = analyzer.predict(parameters, round_)
        notice.counted_one()
        return prediction

    return predict


def _work(proposal: Proposal, plan: Plan) -> Work:
    """What is to be measured."""
    return selection.work(plan, proposal.run.attempts(), proposal.options.only)


def _preview(proposal: Proposal, plan: Plan, work: Work, testbed: Testbed, results: Path) -> str:
    overhead = estimate.overhead_of_earlier_runs(results)
    expected = estimate.estimate(work, testbed, overhead)
    name = proposal.options.run or "(named by its time)"
    return preview.render(plan, work, name, expected, testbed, results)


def _turns(plan: Plan, work: Work) -> list[dict[str, Any]]:
    turns: dict[tuple[str, int], dict[str, Any]] = {}
    loaded = None
    for turn, iteration in work:
        entry = turns.get((turn.cell.id, turn.round))
        if entry is None:
            program = program_of(turn.cell.parameters)
            entry = turns[turn.cell.id, turn.round] = {
                "cell": turn.cell.id,
                "round": turn.round,
                "label": labels.of_turn(plan, turn),
                "changes_program": loaded not in (None, program),
                "caches": caches(turn.cell.parameters),
                "crashes": crash_of(turn.cell.parameters),
                "iterations": [],
            }
            loaded = program
        entry["iterations"].append(iteration.index)
    return list(turns.values())


def _point_latest(link: Path, target: Path) -> None:
    """results/latest, for people; nothing depends on it."""
    temporary = link.with_name(f".latest.{target.name}")
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target.relative_to(link.parent))
        caller.give(temporary)
        temporary.replace(link)
    except OSError as error:
        raise TurntableError(f"{link}: cannot point to {target}: {error}") from None
