"""Processor time of workload-analyze beside YCSB's generator, for the same question.

The question: which partition is the busiest under workload A, 100 million records? The original's
analysis draws 100 million requests; the Java yardstick only draws their keys and counts slots. It
draws fewer here, and its time per draw is multiplied. workload-analyze computes the exact shares,
for 16 to 128 servers at once, with and without the 10,000 hottest keys.
"""

from __future__ import annotations

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate
from .java import classpath, java_cpu_s
from .processes import cpu_ns_per_operation, pinned, run
from .settings import Settings

CPU = 0
RECORDS = DRAWS = 100_000_000
SCALES = "16,32,64,128"


def measure(settings: Settings) -> list[Outcome]:
    classpath(settings.build)  # says what is missing before anything is measured
    comparison = Comparison(
        "analysis: loads of the partitions",
        "YCSB, 100 M draws",
        "workload-analyze",
        Unit.CPU_S,
    )

    def java(draws: int) -> float:
        arguments = ["turntable.bench.PartitionLoads", str(RECORDS), str(draws)]
        return java_cpu_s(settings.build, pinned(CPU, []), arguments)

    def ours() -> float:
        program = settings.binary("workload-analyze")
        return run(pinned(CPU, [program, "--workload", "workloada", "--scales", SCALES])).cpu_s

    def yardstick() -> float:
        return cpu_ns_per_operation(java, 1_000_000, 6_000_000) * 1e-9 * DRAWS

    return [alternate(comparison, min(settings.rounds, 3), {YARDSTICK: yardstick, OURS: ours})]
