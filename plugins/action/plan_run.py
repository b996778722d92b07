"""Plans a run, or continues one, and takes the testbed for it.

Documented in plugins/modules/plan_run.py.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from turntable import precision
from turntable.load import judged
from turntable_core import (
    caller,
    estimate,
    kept_program,
    labels,
    long_runs,
    planned,
    plays,
    preview,
    programs,
    selection,
    sharing,
)
from turntable_core.errors import TurntableError
from turntable_core.estimate import Estimate, Work
from turntable_core.ownership import run_claim, testbed_lock
from turntable_core.ownership.owner import Owner, new_owner
from turntable_core.plan import Plan
from turntable_core.plan_action import PlanAction
from turntable_core.proposal import Proposal
from turntable_core.sharing import Search
from turntable_core.system import System
from turntable_core.testbed import Testbed, read_testbed


class ActionModule(PlanAction):
    ARGUMENTS: ClassVar = PlanAction.ARGUMENTS | {
        "experiment": {"type": "str", "required": True},
        "run": {"type": "str"},
        "share_rounds": {"type": "bool"},
        "planned": {"type": "path"},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        began_at_ns = time.time_ns()
        build, results = Path(arguments["build"]), Path(arguments["results"])
        offered = {name: arguments[name] for name in ("run", "share_rounds")}
        given = {name: value for name, value in offered.items() if value is not None}
        extra = self.extra_vars().with_defaults(given)
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        proposal = self.propose(arguments["experiment"], arguments, extra, testbed, task_vars)
        precision.check(proposal.scale, proposal.experiment.source.where(("precision",)))
        system, options = proposal.experiment.system, proposal.options
        overhead = estimate.overhead_of_earlier_runs(results)
        may_be_long = options.long or self._task.check_mode
        if proposal.is_new and not may_be_long:
            rounds = proposal.scale.rounds
            long_runs.check_before_planning(system, proposal.cells, rounds, overhead)
        run, is_new = proposal.run, proposal.is_new
        manifest = self.manifest(proposal, arguments, extra, task_vars)
        known = planned.Known(arguments["planned"], manifest)
        plan = proposal.plan(known.planner(system, proposal.planner(build)))
        work = _work(proposal, plan, precision.still_skipped(run))
        shared = _shared(proposal, plan, manifest, work)
        work = shared.rest(work)
        expected = estimate.estimate(plan, work, testbed, overhead)
        if self._task.check_mode:
            report = _preview(proposal, plan, work, expected, results, shared)
            return {"changed": False, "report": report}
        if not may_be_long:
            long_runs.check_plan(expected, results)

        owner = new_owner(run.path.name, proposal.experiment.id)
        with self.held(testbed, owner, task_vars) if work else nullcontext():
            if work:
                connections = self.connections(task_vars)
                programs.require_build(connections, testbed, system, build)
                kept_program.require_program(
                    connections, testbed, system, proposal.cells, Path(arguments["repository"])
                )
            if is_new:
                run.create(plan, manifest)
            plays.begin(run.path, began_at_ns)
            if work or shared.found:
                run_claim.sweep(results)
                run_claim.claim(run.path, owner)
            run.use_testbed(testbed)
            caller.give_tree(run.path)  # what root itself left of this run
            # Again: another playbook may have worked on this run until it gave the testbed back.
            sharing.take(run, shared.found)
            if work and run.skipped() and not options.only:
                run.skip_only(precision.still_skipped(run))
            if work:
                work = _work(proposal, plan, run.skipped())
            elif shared.found:
                run_claim.drop(run.path)
        _point_latest(results / "latest", run.path)
        chosen = f"\n{selection.describe(plan, work)}" if options.only else ""
        chosen += "".join(f"\n  {line}" for line in [*shared.words(plan), *proposal.notes()])
        return {
            "changed": is_new,
            "run": {
                "directory": str(run.path),
                "name": run.path.name,
                "only": options.only,
                "attempts": len(run.attempts()),
                "max_attempts": options.max_attempts,
                "repeats": options.repeats,
                "fail_on_invalid": options.fail_on_invalid,
            },
            "system": _of_system(system),
            "turns": _turns(plan, work),
            "report": f"run {run.path.name} {'planned' if is_new else 'continued'}: {len(work)} of "
            f"{plan.iteration_count} iterations to measure, in {run.path}{chosen}",
        }

    def held(
        self, testbed: Testbed, owner: Owner, task_vars: dict[str, Any]
    ) -> AbstractContextManager[None]:
        """The testbed's lock, kept for the run unless the body fails."""
        return testbed_lock.taken(self.connections(task_vars), testbed, owner)


def _work(proposal: Proposal, plan: Plan, skipped: Collection[tuple[str, int]]) -> Work:
    """What is to be measured."""
    options = proposal.options
    return selection.work(
        plan, proposal.run.attempts(), options.only, skipped, repeats=options.repeats
    )


def _shared(proposal: Proposal, plan: Plan, manifest: Mapping[str, Any], work: Work) -> Search:
    """What of it another experiment's run of the same name has measured."""
    options = proposal.options
    if not options.share_rounds or options.only:
        return Search()
    return sharing.search(
        proposal.run,
        plan,
        manifest,
        work,
        lambda run, turn: "; ".join(judged(run, plan, turn).reasons) or None,
    )


def _preview(
    proposal: Proposal,
    plan: Plan,
    work: Work,
    expected: Estimate,
    results: Path,
    shared: Search,
) -> str:
    name = proposal.options.run or "(named by its time)"
    notes = [*shared.words(plan), *proposal.notes()]
    return preview.render(plan, work, name, expected, results, notes)


def _of_system(system: System) -> dict[str, Any]:
    """What the core's task files ask."""
    has = {name: (system.tasks / f"{name}.yml").exists() for name in ("configure", "after")}
    return {"name": system.name, "tasks": str(system.tasks), "has": has}


def _turns(plan: Plan, work: Work) -> list[dict[str, Any]]:
    turns: dict[tuple[str, int], dict[str, Any]] = {}
    system = plan.system
    for turn, iteration in work:
        entry = turns.get((turn.cell.id, turn.round))
        if entry is None:
            parameters = turn.cell.parameters
            entry = turns[turn.cell.id, turn.round] = {
                "cell": turn.cell.id,
                "round": turn.round,
                "label": labels.of_turn(plan, turn),
                "program": system.switch_program(parameters) if system.needs_switch else "",
                "facts": dict(system.facts(parameters)),
                "iterations": [],
            }
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
