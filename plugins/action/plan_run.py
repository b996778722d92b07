"""Plans a run, or continues one, and takes the testbed for it.

Spec + profile + extra variables -> cells x rounds x iterations, less what the journal has.

    plan_run: {experiment: SYSTEM/NAME, repository: DIR, build: DIR, results: DIR}

experiments: the directory with the systems' experiments, if it is not the repository's. Creates
results/<experiment>/<run>/ with manifest.json and plan.json. Returns `run` (directory, name,
options), `system` (its name, and the directory of its task files) and `turns`: for each round of
each cell the iterations to be measured. In check mode it only reports plan and estimate: it writes
nothing and does not ask the testbed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from turntable import precision
from turntable_core import caller, estimate, labels, long_runs, preview, programs, selection
from turntable_core.errors import TurntableError
from turntable_core.estimate import Estimate, Work
from turntable_core.manifest import make_manifest
from turntable_core.ownership import run_claim, testbed_lock
from turntable_core.ownership.owner import Owner, new_owner
from turntable_core.plan import Plan
from turntable_core.plan_limits import planning_deadline_s
from turntable_core.proposal import Proposal, propose
from turntable_core.run_action import RunAction
from turntable_core.system import Parameters, Planned, System
from turntable_core.testbed import Testbed, read_testbed
from turntable_core.wait_notice import PlanningNotice
from turntable_inventory.read import read_host


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "experiment": {"type": "str", "required": True},
        "experiments": {"type": "path"},
        "repository": {"type": "path", "required": True},
        "build": {"type": "path", "required": True},
        "results": {"type": "path", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        repository, build = Path(arguments["repository"]), Path(arguments["build"])
        results = Path(arguments["results"])
        extra = self.extra_vars()
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        file = Path(arguments["experiments"] or repository / "experiments")
        file /= f"{arguments['experiment']}.yml"

        def place(host: str, variable: str) -> str:
            return read_host(task_vars["hostvars"], host).place(variable)

        proposal = propose(file, extra, testbed, results, place)
        precision.check(proposal.scale, proposal.experiment.source.where(("precision",)))
        system, options = proposal.experiment.system, proposal.options
        overhead = estimate.overhead_of_earlier_runs(results)
        may_be_long = options.long or self._task.check_mode
        if proposal.is_new and not may_be_long:
            rounds = proposal.scale.rounds
            long_runs.check_before_planning(system, proposal.cells, rounds, overhead)
        plan = proposal.plan(_planning(proposal, build))
        work = _work(proposal, plan, precision.still_skipped(proposal.run))
        expected = estimate.estimate(plan, work, testbed, overhead)
        if self._task.check_mode:
            return {"changed": False, "report": _preview(proposal, plan, work, expected, results)}
        if not may_be_long:
            long_runs.check_plan(expected, results)

        run, is_new, manifest = proposal.run, proposal.is_new, None
        if is_new:
            connections = {
                host.name: task_vars["hostvars"][host.name].get("ansible_connection", "ssh")
                for host in testbed.hosts
            }
            manifest = make_manifest(
                repository,
                build,
                testbed,
                extra.values,
                proposal.experiment.file,
                connections,
                task_vars.get("ansible_inventory_sources") or [],
            )
        owner = new_owner(run.path.name, proposal.experiment.id)
        with self.held(testbed, owner, task_vars) if work else nullcontext():
            if work:
                programs.require_build(self.connections(task_vars), testbed, system, build)
            if manifest:
                run.create(plan, manifest)
            if work:
                run_claim.sweep(results)
                run_claim.claim(run.path, owner)
            run.use_testbed(testbed)
            caller.give_tree(run.path)  # what root itself left of this run
            # Again: another playbook may have worked on this run until it gave the testbed back.
            if work and run.skipped() and not options.only:
                run.skip_only(precision.still_skipped(run))
            work = _work(proposal, plan, run.skipped())
        _point_latest(results / "latest", run.path)
        chosen = f"\n{selection.describe(plan, work)}" if options.only else ""
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


def _planning(proposal: Proposal, build: Path) -> Callable[[Parameters, int], Planned]:
    """As make_plan takes it; says how far it is when that takes a while."""
    notice = PlanningNotice(len(proposal.cells) * proposal.scale.rounds)
    system = proposal.experiment.system
    deadline_s = planning_deadline_s(system, proposal.cells)
    planner = system.planner(build, deadline_s, notice.show_if_due)

    def plan(parameters: Parameters, round_: int) -> Planned:
        planned = planner(parameters, round_)
        notice.planned_one()
        return planned

    return plan


def _work(proposal: Proposal, plan: Plan, skipped: Collection[tuple[str, int]]) -> Work:
    """What is to be measured."""
    options = proposal.options
    return selection.work(
        plan, proposal.run.attempts(), options.only, skipped, repeats=options.repeats
    )


def _preview(proposal: Proposal, plan: Plan, work: Work, expected: Estimate, results: Path) -> str:
    name = proposal.options.run or "(named by its time)"
    return preview.render(plan, work, name, expected, results)


def _of_system(system: System) -> dict[str, Any]:
    """What the core's task files ask."""
    has = {name: (system.tasks / f"{name}.yml").exists() for name in ("configure", "after")}
    return {"name": system.name, "tasks": str(system.tasks), "has": has}


def _turns(plan: Plan, work: Work) -> list[dict[str, Any]]:
    turns: dict[tuple[str, int], dict[str, Any]] = {}
    system, loaded = plan.system, None
    for turn, iteration in work:
        entry = turns.get((turn.cell.id, turn.round))
        if entry is None:
            program = system.switch_program(turn.cell.parameters) if system.needs_switch else None
            entry = turns[turn.cell.id, turn.round] = {
                "cell": turn.cell.id,
                "round": turn.round,
                "label": labels.of_turn(plan, turn),
                "changes_program": loaded not in (None, program),
                "facts": dict(system.facts(turn.cell.parameters)),
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
