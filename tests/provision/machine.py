"""A machine of a rack, on this one: a root of its own over this machine's files, a network of its
own, and what a kernel shows of hardware that is not here.

Nothing that is changed inside is changed outside: files are an overlay that lies in memory, and
namespaces are of network, processes, mounts, System V IPC and host name. Kernel parameters that no
namespace has are this machine's: tests never write them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
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
for directory in run tmp var/lib/turntable proc/irq \\
    sys/kernel/mm sys/devices/system/cpu sys/class/net; do
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
    keeper: subprocess.Popen[str]  # unshare; its child is the machine's first process
    pid: int = 0  # of that one; everything in the machine ends with it

    @property
    def root(self) -> Path:
        """As this machine's processes see it."""
        return Path(f"/proc/{self.pid}/root{self.directory}/root")

    @property
    def network(self) -> Path:
        return Path(f"/proc/{self.pid}/ns/net")

    def inside(self, *command: str) -> list[str]:
        enter = ["nsenter", f"--target={self.pid}"]
        enter += ["--mount", "--net", "--ipc", "--uts", "--pid"]
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
        roots = ("etc", "opt", "usr/local/sbin", "var/lib/turntable", "run/turntable",
                 "sys/kernel/mm", "sys/devices/system/cpu", "proc/irq", "tmp/service")  # fmt: skip
        found = {}
        for root in roots:
            for path in sorted((self.root / root).rglob("*")):
                name = str(path.relative_to(self.root))
                if path.is_symlink():
                    found[name] = f"-> {path.readlink()}"
                elif name.startswith(("sys/", "proc/")) and path.is_file():
                    found[name] = path.read_text().strip()  # a kernel ends lines, files do not
                elif path.is_file():
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    found[name] = f"{path.stat().st_mode:o} {digest}"
                else:
                    found[name] = f"{path.stat().st_mode:o}"
        return found

    def end(self) -> None:
        self.keeper.stdin.close()
        self.keeper.wait(30)


@contextlib.contextmanager
def machine(name: str, directory: Path) -> Iterator[Machine]:
    """Without a NIC on the data network yet."""
    directory.mkdir(parents=True)
    command = ["unshare", "--mount", "--net", "--ipc", "--uts", "--pid"]
    command += ["--fork", "--kill-child", "--propagation", "private"]
    keeper = subprocess.Popen(
        [*command, "bash", "-c", _BEGIN.format(root=directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    made = Machine(name, directory, keeper)
    try:
        assert keeper.stdout.readline() == "ready\n"
        children = Path(f"/proc/{keeper.pid}/task/{keeper.pid}/children").read_text()
        made.pid = int(children.split()[0])
        _add_hardware(made)
        _add_services(made)
        _add_packages(made)
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


# Starts and stops by a file; knows the properties that are asked for.
_SYSTEMCTL = """\
#!/bin/sh
case $1 in
  show) [ -e /tmp/service/"${4%.service}" ] && echo active || echo inactive ;;
  start) : >/tmp/service/"${2%.service}" ;;
  stop) rm -f /tmp/service/"${2%.service}" ;;
esac
"""


def _add_services(made: Machine) -> None:
    """systemd, as far as it is asked, with an irqbalance that runs."""
    made.run("mkdir", "-p", "/run/systemd/system", "/tmp/service")
    made.write("/usr/local/sbin/systemctl", _SYSTEMCTL, 0o755)
    made.write("/tmp/service/irqbalance", "")


_CONTROL = """\
Package: {name}
Version: 1
Architecture: all
Maintainer: nobody <nobody@example.org>
Description: a package for tests
{more}
"""


def _add_packages(made: Machine) -> None:
    """A source of packages of its own: turntable-test-tool needs turntable-test-library. What apt
    knows of others is forgotten.
    """
    made.run("sh", "-c", "rm -rf /etc/apt/sources.list* /var/lib/apt/lists/*")
    for name, more in (("tool", "Depends: turntable-test-library"), ("library", "")):
        package = f"turntable-test-{name}"
        made.write(
            f"/srv/{package}/DEBIAN/control",
            _CONTROL.format(name=package, more=more).strip() + "\n",
        )
        made.write(f"/srv/{package}/etc/{package}.conf", "installed\n")
        made.run("dpkg-deb", "--root-owner-group", "--build", f"/srv/{package}", "/srv")
    made.run("sh", "-c", "cd /srv && dpkg-scanpackages . >Packages 2>/dev/null")
    made.write("/etc/apt/sources.list", "deb [trusted=yes] file:/srv ./\n")


def plug(first: Machine, second: Machine, macs: tuple[str, str]) -> None:
    """A cable between the two, with a NIC data0 at each end: down, two of at most four queues."""
    queues = ["numtxqueues", "4", "numrxqueues", "4"]
    near, far = (["data0", "address", mac, *queues] for mac in macs)
    enter = ["nsenter", f"--net=/proc/{first.pid}/ns/net"]
    command = [*enter, "ip", "link", "add", *near, "type", "veth"]
    subprocess.run([*command, "peer", "name", *far, "netns", str(second.pid)], check=True)
    for end in (first, second):
        end.run("ethtool", "-L", "data0", "rx", "2", "tx", "2")
