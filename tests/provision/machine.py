"""A machine of a rack, on this one: a root of its own over this machine's files, a network of its
own, and what a kernel shows of hardware that is not here.

Nothing that is changed inside is changed outside: files are an overlay that lies in memory, and
namespaces are of network, mounts, System V IPC and host name. /proc is this machine's: processes
are seen, and kernel parameters that no namespace has are never written by the tests.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PROCESSORS = 2
_INTERRUPTS = ("40", "41", "42")
# What is made before the root changes; {root}: the directory of the machine.
_BEGIN = """
set -e
mount -t tmpfs -o mode=755 none {root}
mkdir {root}/upper {root}/work {root}/root
mount -t overlay overlay -o lowerdir=/,upperdir={root}/upper,workdir={root}/work {root}/root
cd {root}/root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
for directory in run tmp var/lib/turntable sys/kernel/mm sys/devices/system/cpu sys/class/net proc/irq; do
  mkdir -p $directory
  mount -t tmpfs -o mode=755 none $directory
done
chmod 1777 tmp
ip link set lo up
echo ready
exec cat
"""


@dataclass
class Machine:
    name: str
    directory: Path
    keeper: subprocess.Popen[str]  # its namespaces live as long as this process
    servers: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """As this machine's processes see it."""
        return Path(f"/proc/{self.keeper.pid}/root{self.directory}/root")

    @property
    def network(self) -> Path:
        return Path(f"/proc/{self.keeper.pid}/ns/net")

    def inside(self, *command: str) -> list[str]:
        enter = ["nsenter", f"--target={self.keeper.pid}"]
        enter += ["--mount", "--net", "--ipc", "--uts"]
        return [*enter, "chroot", f"{self.directory}/root", *command]

    def run(self, *command: str, check: bool = True, text: str | None = None) -> str:
        done = subprocess.run(
            self.inside(*command), input=text, capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise AssertionError(f"{self.name}: {command}: {done.stdout}{done.stderr}")
        return done.stdout

    def read(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text()

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Not through this machine's view, where parts of it are in the way."""
        self.run("sh", "-c", 'mkdir -p "${1%/*}" && cat > "$1" && chmod "$2" "$1"', "sh", path,
                 f"{mode:o}", text=text)  # fmt: skip

    def exists(self, path: str) -> bool:
        return subprocess.run(self.inside("test", "-e", path), check=False).returncode == 0

    def fingerprint(self) -> dict[str, object]:
        """All that a provisioning may change, found by other means than the code under test."""
        return {
            "links": self._links(),
            "addresses": re.sub(r"valid_lft.*", "", self.run("ip", "-4", "address")),
            "neighbours": sorted(self.run("ip", "neigh", "show", "nud", "permanent").splitlines()),
            "features": self.run("ethtool", "-k", "data0"),
            "sysctls": self.run("sysctl", "-a", "--pattern", r"^net\.(core|ipv4)|^kernel\.shm"),
            "packages": self.run("dpkg-query", "--show", "-f", "${Package} ${db:Status-Abbrev}\n"),
            "files": self._files(),
        }

    def _links(self) -> list[tuple[object, ...]]:
        """Without the queue that the kernel gives a link with its first up."""
        links = json.loads(self.run("ip", "-json", "link"))
        keys = ("ifname", "address", "mtu", "flags", "operstate", "txqlen")
        return [tuple(str(link.get(key)) for key in keys) for link in links]

    def _files(self) -> dict[str, str]:
        """Files that differ from this machine's, and those that stand for the kernel's."""
        roots = ("etc", "opt", "usr/local", "var/lib/turntable", "run/turntable", "run/systemd",
                 "sys/kernel/mm", "sys/devices/system/cpu", "proc/irq", "tmp/service")  # fmt: skip
        found = {}
        for root in roots:
            for path in sorted((self.root / root).rglob("*")):
                name = str(path.relative_to(self.root))
                if path.is_symlink():
                    found[name] = f"-> {os.readlink(path)}"
                elif name.startswith(("sys/", "proc/")) and path.is_file():
                    found[name] = path.read_text().strip()  # a kernel ends lines, files do not
                elif path.is_file():
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    found[name] = f"{path.stat().st_mode:o} {digest}"
                else:
                    found[name] = f"{path.stat().st_mode:o}"
        return found

    def end(self) -> None:
        for server in self.servers:
            server.terminate()
            server.wait(30)
        self.keeper.stdin.close()
        self.keeper.wait(30)


@contextlib.contextmanager
def machine(name: str, directory: Path) -> Iterator[Machine]:
    """Without a NIC on the data network yet."""
    directory.mkdir(parents=True)
    command = ["unshare", "--mount", "--net", "--ipc", "--uts", "--propagation", "private"]
    keeper = subprocess.Popen(
        [*command, "bash", "-c", _BEGIN.format(root=directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    made = Machine(name, directory, keeper)
    try:
        assert keeper.stdout.readline() == "ready\n"
        _add_hardware(made)
        yield made
    finally:
        made.end()
        shutil.rmtree(directory)


def _add_hardware(made: Machine) -> None:
    """What this machine's kernel does not show, as plain files: they keep what is written."""
    memory, processors = "/sys/kernel/mm", "/sys/devices/system/cpu"
    made.write(f"{memory}/hugepages/hugepages-2048kB/nr_hugepages", "0\n")
    made.write(f"{memory}/transparent_hugepage/enabled", "madvise\n")
    for number in range(_PROCESSORS):
        made.write(f"{processors}/cpu{number}/cpufreq/scaling_governor", "powersave\n")
    for number in _INTERRUPTS:
        made.write(f"/proc/irq/{number}/smp_affinity_list", "0-1\n")
        made.write(f"/sys/class/net/data0/device/msi_irqs/{number}", "msix\n")


def plug(first: Machine, second: Machine, macs: tuple[str, str]) -> None:
    """A cable between the two, at each end a NIC data0 that is down, with two queues of at most 4."""
    pid = str(second.keeper.pid)
    queues = ["numtxqueues", "4", "numrxqueues", "4"]
    first.run("ip", "link", "add", "data0", "address", macs[0], *queues, "type", "veth",
              "peer", "name", "data0", "address", macs[1], *queues, "netns", pid)  # fmt: skip
    for end in (first, second):
        end.run("ethtool", "-L", "data0", "rx", "2", "tx", "2")
