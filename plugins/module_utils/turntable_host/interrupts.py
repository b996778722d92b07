"""Which processors serve the NIC's interrupts, and the service that would move them again."""

from __future__ import annotations

import re
from pathlib import Path

from .commands import read_kernel, run, write_kernel
from .errors import GoneError, HostError
from .setting import Setting, Value

_INTERRUPTS = Path("/proc/irq")
_NICS = Path("/sys/class/net")
_SYSTEMD = Path("/run/systemd/system")


class Interrupt(Setting):
    """The name is its number, the value a list of processors: `0-3`."""

    kind = "processors of interrupt"

    def read(self) -> Value:
        return read_kernel(self._path, str(self))

    def write(self, value: Value) -> None:
        write_kernel(self._path, value, str(self))

    @property
    def _path(self) -> Path:
        return _INTERRUPTS / self.name / "smp_affinity_list"


class Service(Setting):
    """Whether a service of systemd runs now; what happens at the next boot is not changed."""

    kind = "service"

    def read(self) -> Value:
        if not _SYSTEMD.is_dir():
            return "running" if process_runs(self.name) else "stopped"
        show = ["systemctl", "show", "--property=ActiveState", "--value", f"{self.name}.service"]
        return "running" if run(show).strip() in ("active", "activating") else "stopped"

    def write(self, value: Value) -> None:
        if not _SYSTEMD.is_dir():
            raise HostError(
                f"{self}: this host has no systemd; expected it to be {value}. "
                f"{'Start' if value == 'running' else 'End'} it by hand"
            )
        verb = "start" if value == "running" else "stop"
        run(["systemctl", verb, f"{self.name}.service"])


def process_runs(program: str) -> bool:
    """Whether a process of this name runs on the host."""
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text(encoding="utf-8").strip() == program:
                return True
        except OSError:  # it has ended
            continue
    return False


def interrupts_of(nic: str) -> list[str]:
    """Numbers, in order. Raises GoneError for a NIC without hardware."""
    device = _NICS / nic / "device"
    # Of a virtual NIC the device above has them.
    for directory in (device / "msi_irqs", device / "../msi_irqs"):
        if directory.is_dir():
            return sorted((path.name for path in directory.iterdir()), key=int)
    single = device / "irq"
    if single.is_file() and single.read_text(encoding="ascii").strip() != "0":
        return [single.read_text(encoding="ascii").strip()]
    raise GoneError(
        f"NIC {nic} has no interrupts of its own ({device}/msi_irqs); expected a NIC on the PCI "
        "bus. Leave turntable_nic_interrupt_cpus out for this host"
    )


def spread(interrupts: list[str], processors: str) -> dict[str, str]:
    """Interrupt -> the processor that serves it: in turn, each on one alone."""
    numbers = numbers_of(processors)
    return {name: str(numbers[i % len(numbers)]) for i, name in enumerate(interrupts)}


def numbers_of(processors: str) -> list[int]:
    """`0-2,8` -> 0, 1, 2, 8."""
    found: list[int] = []
    for part in processors.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if first > last:
            raise HostError(
                f"processors {processors!r}: {part!r} is no range; expected numbers and ranges "
                "such as 0-7,16. Correct turntable_nic_interrupt_cpus"
            )
        found += range(first, last + 1)
    return found
