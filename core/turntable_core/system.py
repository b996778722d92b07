"""What a system under test gives the run: everything that the core does not know.

A system is a package below turntable_systems whose `SYSTEM` is an instance of a subclass of
System. docs/add-a-system.md goes through one part by part. Nothing in the core names a system, nor
what only some of them have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from turntable_core.context import Context
    from turntable_core.plan import Iteration, Turn
    from turntable_core.requests import Batches
    from turntable_core.testbed import DataHost, Testbed
    from turntable_core.timeline import Event

Parameters = Mapping[str, Any]  # of a cell


@dataclass(frozen=True)
class HostNeeds:
    """What a machine is given when it is provisioned, unless the inventory says otherwise; a
    namespace of the embedded testbed is given none of it (docs/hosts.md).
    """

    packages: tuple[str, ...] = ()  # of Debian, beside those of the programs' shared libraries
    masked_services: tuple[str, ...] = ()  # of these packages: they are not to start by themselves
    # Where systems share a host, the larger number holds. {interface}: the NIC on the data network.
    sysctls: Mapping[str, int | str] = field(default_factory=dict)
    limits: Mapping[str, int | str] = field(default_factory=dict)  # of logins: nofile, memlock, …
    transparent_huge_pages: str | None = None


@dataclass(frozen=True)
class Role:
    """What some hosts of a testbed do; the inventory's group of this name has them."""

    group: str
    least: int = 1
    most: int | None = None  # None: any number
    programs: tuple[str, ...] = ()  # that each of them needs
    programs_of_first: tuple[str, ...] = ()  # ... and the first one beside
    udp_ports: range = range(0)  # on which these programs listen
    needs: HostNeeds = HostNeeds()  # of each of them


@dataclass(frozen=True)
class Windows:
    """Parts of an iteration on the common clock, in seconds."""

    lead_s: float  # from the command to the common start instant
    warmup_s: float
    measure_s: float
    drain_s: float  # at most, after the window

    @property
    def loaded_s(self) -> float:
        """What an iteration takes at least, and its overhead comes on top of."""
        return self.warmup_s + self.measure_s

    @property
    def running_s(self) -> float:
        """From the command until all is over, at most."""
        return self.lead_s + self.warmup_s + self.measure_s + self.drain_s


@dataclass(frozen=True)
class Planned:
    """What is planned for one round of a cell."""

    iterations: tuple[Iteration, ...]
    prediction: Any  # of the system, a dataclass or what JSON has; None: there is none


@dataclass(frozen=True)
class Check:
    """Whether a parameter fits the others and the testbed."""

    parameter: str
    expected: Callable[[Parameters, Testbed], str | None]  # in words; None: it is as expected
    beside: tuple[str, ...] = ()  # parameters that decide what it may be


@dataclass(frozen=True)
class Preparation:
    """What the turns of a run need before they are measured, beside configuring."""

    seconds: float = 0.0
    what: str = ""  # that takes so long, in words
    disk_bytes: int = 0
    disk_of: str = ""  # what it holds, in words
    disk_on: Path | None = None  # a directory of this machine; None: on other hosts
    memory_bytes: int = 0
    memory_of: str = ""


class System:
    """Subclasses are stateless. What has a default may be left out."""

    name: ClassVar[str]
    former_names: ClassVar[tuple[str, ...]] = ()  # in plans of earlier versions
    # The same of its experiments: former name -> name. Tables of references are named after them.
    former_experiments: ClassVar[Mapping[str, str]] = {}

    # JSON schema with $defs parameters, validity, deadlines (docs/experiments.md).
    schema: ClassVar[Path]
    # Task files: start and measure; configure if a turn has something of its own, after if
    # something follows each measurement.
    tasks: ClassVar[Path]
    # Package with a module per component, a function (Context) -> Batches per verb.
    components: ClassVar[str]
    # Package of the analysis side. A name, for the run must not import it.
    analysis: ClassVar[str]

    roles: ClassVar[tuple[Role, ...]]
    needs_switch: ClassVar[bool] = False
    # Of the switch. If not, a vendor's switch will do, which has settings and runs no program.
    needs_switch_program: ClassVar[bool] = True
    # Packets of all hosts meet in registers of the switch, which its pipes do not share.
    needs_one_pipe: ClassVar[bool] = False
    switch_programs: ClassVar[tuple[str, ...]] = ()  # of the switch host, beside the switch's own
    controller_programs: ClassVar[tuple[str, ...]] = ()  # that planning runs

    # Parameters that every label of a cell names; others only where they tell cells apart.
    identity: ClassVar[tuple[str, ...]]
    # Parameter -> how a label says it: "updates after {} µs". Others: the name, then the value; of
    # the identity the value alone.
    phrases: ClassVar[Mapping[str, str]] = {}
    # Parameter -> the value that labels leave out where all cells have it; another value is said
    # even then.
    usual: ClassVar[Mapping[str, Any]] = {}

    def hosts_in(self, testbed: Testbed) -> list[DataHost]:
        """Those of its roles; others of the testbed are none of its business."""
        return [host for role in self.roles for host in testbed.hosts_of(role.group)]

    def checks(self) -> Sequence[Check]:
        return ()

    def meaningless(self, parameters: Parameters) -> Collection[str]:
        """Names of parameters that say nothing about such a cell: they are left out of it."""
        return ()

    def notes(self, cells: Sequence[Parameters]) -> Sequence[str]:
        """What whoever plans these cells should know; a line each, with the plan."""
        return ()

    def resolved(self, parameters: Parameters) -> Parameters:
        """The parameters of a cell where some decide others; called before all else."""
        return parameters

    def windows(self, parameters: Parameters) -> Windows:
        raise NotImplementedError

    def iteration_count(self, parameters: Parameters) -> int:
        """Of a round; known without planning it."""
        raise NotImplementedError

    def planning_s(self, parameters: Parameters) -> float:
        """Of one round, on one processor."""
        return 0.0

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        """(parameters, round) -> what is planned; called by several threads at once.

        build: of the controller. deadline_s: of one call. while_planning: to be called every second
        of a long one.
        """
        raise NotImplementedError

    def read_prediction(self, document: Any) -> Any:
        """What JSON made of a prediction -> the prediction."""
        return document

    def read_iteration(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """An iteration of a plan of an earlier version -> its `label` and `data`."""
        raise NotImplementedError

    def places(self, iteration: Iteration) -> Mapping[str, tuple[str, ...]]:
        """Names that `-e only=NAME=VALUE` may use, and the values that mean this iteration."""
        return {}

    def facts(self, parameters: Parameters) -> Mapping[str, Any]:
        """What the system's task files ask of a turn: `turntable_turn.facts`."""
        return {}

    def nodes(self, parameters: Parameters) -> Sequence[str]:
        """Components whose nodes run in such a turn: a timeline kills and starts them."""
        return ()

    def timeline_verbs(self) -> Mapping[str, Callable[[Any, Context], Batches]]:
        """Verbs of an experiment's `timeline` beside the core's: name -> (value, context) ->
        requests, to be sent at the event's instant.
        """
        return {}

    def timeline_fault(self, event: Event, parameters: Parameters) -> str | None:
        """What was expected of the value of one of these verbs in a cell with these parameters;
        None: it is as expected.
        """
        return None

    def preview(self, turn: Turn) -> Mapping[str, str]:
        """Columns of `--check` for a turn: head -> text."""
        return {}

    preview_note: ClassVar[str] = ""  # what these columns are

    def preparation(self, turns: Sequence[Turn], testbed: Testbed) -> Preparation:
        return Preparation()

    def switch_program(self, parameters: Parameters) -> str:
        """Name of the P4 program that the switch runs."""
        raise NotImplementedError

    def switch_tables(self, context: Context) -> list[dict[str, Any]]:
        """Updates after which the switch's tables hold exactly this turn's entries; for one
        `table_write` (docs/p4soft.md).
        """
        return []

    def switch_multicast(self, context: Context) -> list[dict[str, Any]]:
        """The same for the switch's multicast groups, which are none of the program's tables: a
        `table_write` of their own.
        """
        return []

    def switch_traffic(self, parameters: Parameters, testbed: Testbed) -> list[dict[str, Any]]:
        """Links, rates, delays and limits of the switch's ports and their queues: updates of one
        `tm_write` (docs/architecture.md §5), which say all that a turn needs.
        """
        return []

    def switch_settings(self, parameters: Parameters) -> Mapping[str, Any]:
        """Of a software switch: arguments of its `settings`."""
        return {}

    def switch_counters(self, parameters: Parameters) -> Sequence[str]:
        """Tables and counters that are read when a measurement has ended."""
        return ()

    def switch_registers(self, parameters: Parameters) -> Sequence[str]:
        """Registers whose cells the switch's verb `forget` makes what they are in a new switch."""
        return ()
