"""Base of the action plugins that plan runs: what they ask of a task, and what a run is made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.manifest import make_manifest, read_manifest
from turntable_core.overrides import ExtraVars
from turntable_core.proposal import Proposal, propose
from turntable_core.run_action import RunAction
from turntable_core.testbed import Testbed
from turntable_inventory.read import read_host


class PlanAction(RunAction):
    ARGUMENTS: ClassVar = {
        "experiments": {"type": "path"},
        "repository": {"type": "path", "required": True},
        "build": {"type": "path", "required": True},
        "results": {"type": "path", "required": True},
    }

    def propose(
        self,
        experiment: str,
        arguments: Mapping[str, Any],
        extra: ExtraVars,
        testbed: Testbed,
        task_vars: Mapping[str, Any],
    ) -> Proposal:
        """experiment: SYSTEM/NAME."""
        directory = arguments["experiments"] or Path(arguments["repository"]) / "experiments"

        def place(host: str, variable: str) -> str:
            return read_host(task_vars["hostvars"], host).place(variable)

        file = Path(directory) / f"{experiment}.yml"
        return propose(file, extra, testbed, Path(arguments["results"]), place)

    def manifest(
        self,
        proposal: Proposal,
        arguments: Mapping[str, Any],
        extra: ExtraVars,
        task_vars: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Of a run that exists its own."""
        if not proposal.is_new:
            return read_manifest(proposal.run)
        hostvars = task_vars["hostvars"]
        connections = {
            host.name: hostvars[host.name].get("ansible_connection", "ssh")
            for host in proposal.testbed.hosts
        }
        return make_manifest(
            Path(arguments["repository"]),
            Path(arguments["build"]),
            proposal.testbed,
            extra.values,
            proposal.experiment.file,
            connections,
            task_vars.get("ansible_inventory_sources") or [],
        )
