"""Settings that the kernel shows as files below /proc/sys and /sys."""

from __future__ import annotations

import re
from pathlib import Path

from .commands import read_kernel, write_kernel
from .errors import GoneError
from .setting import Setting, Value

_MEMORY = Path("/sys/kernel/mm")
_PROCESSORS = Path("/sys/devices/system/cpu")


class Sysctl(Setting):
    """`net.core.rmem_max`; `net/ipv4/conf/ens1.100/rp_filter` where a part has a dot, as in
    sysctl(8). Values of several numbers are separated by blanks.
    """

    kind = "sysctl"

    def read(self) -> Value:
        return " ".join(read_kernel(self._path, str(self)).split())

    def write(self, value: Value) -> None:
        write_kernel(self._path, str(value), str(self))

    @property
    def _path(self) -> Path:
        by_slashes = "/" in self.name
        return Path("/proc/sys", self.name if by_slashes else self.name.replace(".", "/"))


class HugePages(Setting):
    """How many pages of a size are reserved; the name is the size in KiB."""

    kind = "huge pages of KiB"

    def read(self) -> Value:
        return int(read_kernel(self._path, str(self)))

    def write(self, value: Value) -> None:
        write_kernel(self._path, str(value), str(self))

    @property
    def _path(self) -> Path:
        return _MEMORY / f"hugepages/hugepages-{self.name}kB/nr_hugepages"


class TransparentHugePages(Setting):
    """The name is the kernel's file: `enabled`."""

    kind = "transparent huge pages"

    def read(self) -> Value:
        text = read_kernel(self._path, str(self))
        chosen = re.search(r"\[(\w+)\]", text)
        return chosen.group(1) if chosen else text

    def write(self, value: Value) -> None:
        write_kernel(self._path, value, str(self))

    @property
    def _path(self) -> Path:
        return _MEMORY / "transparent_hugepage" / self.name


class Governor(Setting):
    """Of one processor; the name is the kernel's: `cpu0`."""

    kind = "governor of"

    def read(self) -> Value:
        return read_kernel(self._path, str(self))

    def write(self, value: Value) -> None:
        write_kernel(self._path, value, str(self))

    @property
    def _path(self) -> Path:
        return _PROCESSORS / self.name / "cpufreq/scaling_governor"


def governed_processors() -> list[str]:
    """Raises GoneError where no processor has a governor, as in most virtual machines."""
    found = [path.parts[-3] for path in _PROCESSORS.glob("cpu[0-9]*/cpufreq/scaling_governor")]
    if not found:
        raise GoneError(
            f"no processor has a frequency governor ({_PROCESSORS}/cpu*/cpufreq); expected a "
            "machine whose kernel sets frequencies. Leave turntable_host_cpu_governor out for "
            "this host"
        )
    return sorted(found, key=lambda name: int(name[3:]))
