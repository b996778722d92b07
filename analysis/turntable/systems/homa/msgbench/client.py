"""`msgbench client`: calls in an open loop, a line each second, and slowdowns at the end. Ctrl-C
ends the measurement; what was measured until then is shown and written.
"""

from __future__ import annotations

import math
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from turntable.systems.homa.artifact.baseline import Baseline, read_baseline
from turntable.systems.homa.artifact.hundredths import rows_of
from turntable.systems.homa.artifact.names import Experiment
from turntable.systems.homa.msgbench import (
    files,
    node,
    seconds,
    silence,
    tenths,
    transport,
    unloaded,
)
from turntable.systems.homa.msgbench.node import Node, NodeError
from turntable.systems.homa.msgbench.transport import Derived, Workload
from turntable_core.errors import TurntableError
from turntable_systems.homa import placement

_LEAD_NS = 1_000_000_000  # until the first call may arrive: a busy machine takes the command late
_DRAIN_S = 10
_MARGIN_S = 0.02  # a second is told when it is over


def run(options: Namespace) -> int:
    if options.plot_only:
        if not options.output:
            raise TurntableError("--output is missing; expected the directory that is to be shown")
        return files.show(options.output, figure=files.FIGURE)
    if not options.workload:
        raise TurntableError("--workload is missing; expected W1 to W8, a file, or bytes")
    if not options.servers:
        raise TurntableError("--servers is missing; expected IP:PORT, several with commas between")
    workload = transport.workload_of(options)
    if options.unloaded:
        transport.refuse(options, ("gbps", "load", "baseline"), "--unloaded")
        return unloaded.run(options, workload)
    if options.gbps is None and options.load is None:
        raise TurntableError("the rate is missing; expected --gbps, --load, or --unloaded")
    if options.load is not None and not options.link_gbps:
        raise TurntableError("--load: is a share of the link; expected --link-gbps with it")
    derived = transport.derive(options, workload)
    baseline = _baseline(options, workload)
    _remark_overload(options)
    measurement = _Measurement(options, workload, derived, baseline)
    if options.output:
        files.require_place(options.output, measurement.experiment.file, options.replace)
    with node.running(placement.CLIENT, options.build, options.address, options.port) as client:
        measurement.measure(client)
        return measurement.report(client)


def _remark_overload(options: Namespace) -> None:
    share = options.load or (options.gbps or 0) / (options.link_gbps or math.inf)
    if share >= 1:
        print(
            f"msgbench client: a load of {share:g} is no less than the link carries: calls wait "
            "longer and longer, and round trips tell how long it was measured",
            file=sys.stderr,
        )


def _baseline(options: Namespace, workload: Workload) -> Baseline | None:
    """Of the file that was named, or of --output. It must have all sizes."""
    path = options.baseline or files.baseline_in(options.output, options.protocol, workload.name)
    if path is None:
        return None
    baseline = read_baseline(path)
    baseline.require(workload.distribution.sizes)
    return baseline


@dataclass
class _Measurement:
    options: Namespace
    workload: Workload
    derived: Derived
    baseline: Baseline | None
    shown: int = 0  # seconds
    ended_after_s: float = 0.0  # of the window

    @property
    def payload_bps(self) -> float:
        gbps = self.options.gbps
        return self.derived.payload_bps if gbps is None else gbps * 1e9

    @property
    def experiment(self) -> Experiment:
        return Experiment(
            workload=self.workload.name,
            load=transport.load_label(self.options, self.payload_bps),
            name=transport.label(self.options),
        )

    def measure(self, client: Node) -> None:
        self._prepare(client)
        start_at_ns = time.time_ns() + _LEAD_NS
        client.ask(
            "start",
            start_at_ns=start_at_ns,
            warmup_ns=0,
            measure_ns=round(self.options.seconds * 1e9),
            drain_ns=_DRAIN_S * 1_000_000_000,
        )
        try:
            while not _is_over(client, start_at_ns / 1e9 + self.shown + 1):
                self.show(client.ask("stats", from_second=self.shown)["seconds"])
        except KeyboardInterrupt:
            print("interrupted: what was measured until now", flush=True)
        self.ended_after_s = min(time.time() - start_at_ns / 1e9, self.options.seconds)
        client.ask("stop")

    def _prepare(self, client: Node) -> None:
        options = self.options
        idle = {} if self.baseline is None else {"idle": list(self.baseline.ns_by_bytes.items())}
        client.ask(
            "prepare",
            transport=self.derived.transport,
            servers=options.servers,
            client=options.client,
            seed=options.seed,
            sizes=self.workload.argument,
            payload_bps=self.payload_bps,
            arrivals=options.arrivals,
            outstanding=options.client_max,
            response_bytes=transport.response_bytes(options),
            realtime=options.realtime,
            **idle,
        )

    def show(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """A node that has just ended tells of all seconds, whichever it was asked for."""
        for row in rows:
            if row["second"] < self.shown:
                continue
            self.shown = row["second"] + 1
            length_s = min(1.0, self.options.seconds - row["second"])
            if self.ended_after_s:
                length_s = min(length_s, self.ended_after_s - row["second"])
            if length_s > 0:
                response_bytes = transport.response_bytes(self.options)
                print(*seconds.lines_of(row, length_s, response_bytes), sep="\n", flush=True)

    def report(self, client: Node) -> int:
        """Status: 1 where nothing was answered, or wrongly."""
        stats = client.ask("stats")
        self.show(stats["seconds"])
        print("", *tenths.table(stats, self.workload.distribution), "", sep="\n")
        fields = ("offered", "answered", "aborted", "unanswered", "wrong", "waited")
        print(", ".join(f"{stats[name]:,} {name}" for name in fields))
        for line in silence.hints(stats, self.options):
            print(f"msgbench client: {line}", file=sys.stderr)
        if self.options.output:
            self._write(stats)
        return 0 if stats["answered"] and not stats["wrong"] else 1

    def _write(self, stats: Mapping[str, Any]) -> None:
        rtt_ns, slowdown_1000 = (
            [[row[field]] for row in stats["percentiles"]] for field in ("rtt_ns", "slowdown_1000")
        )
        rows = rows_of(rtt_ns, slowdown_1000, self.workload.distribution)
        if rows:
            print(transport.load_text(self.options, self.payload_bps))
            files.add(self.options.output, self.experiment, rows, self.baseline)


def _is_over(client: Node, second_ends_s: float) -> bool:
    """Answers at the end of the measurement, or of the second."""
    left_s = max(0.0, second_ends_s + _MARGIN_S - time.time())
    try:
        client.ask_within("wait", left_s)
    except NodeError as error:
        if error.code == "timeout":
            return False
        raise
    return True
