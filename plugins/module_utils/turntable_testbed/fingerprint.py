"""Everything on this machine that carries a testbed's id, as JSON: `python -m
turntable_testbed.fingerprint tt`.

What `testbed_up` and `testbed_down` promise is a statement about it: before one = after the other.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from pyroute2 import IPRoute

from . import namespaces, processes

Fingerprint = dict[str, list[str]]

RUN_DIRECTORY = Path("/run/turntable")


def take(testbed: str) -> Fingerprint:
    """Sorted texts per kind of thing.

    Stores (/var/lib/turntable) are no leftover: they are kept on purpose.
    """
    prefix = f"{testbed}-"
    marked = [found for found in namespaces.find() if found.marker.testbed == testbed]
    ours = {found.inode: found.path for found in marked}
    everywhere = {**_all_namespaces(), **ours}
    links, qdiscs = [], []
    for inode, path in everywhere.items():
        every_link, every_qdisc = _links_and_qdiscs(path)
        where = "root" if path == namespaces.ROOT else path.name
        belongs = inode in ours
        links += [f"{where}: {name}" for name in every_link if belongs or name.startswith(prefix)]
        qdiscs += [f"{where}: {text}" for text in every_qdisc if belongs or text.startswith(prefix)]
    return {
        "namespaces": sorted({*_names(prefix), *(f"{found.path}" for found in marked)}),
        "links": sorted(links),
        "qdiscs": sorted(qdiscs),
        "processes": sorted(str(process) for process in processes.find(testbed)),
        "mounts": _mounts(testbed),
        "directories": [str(RUN_DIRECTORY / testbed)] * (RUN_DIRECTORY / testbed).exists(),
    }


def _names(prefix: str) -> list[str]:
    """Names of namespaces with the id, those of interrupted creations and of other owners too."""
    if not namespaces.DIRECTORY.is_dir():
        return []
    return [str(path) for path in namespaces.DIRECTORY.iterdir() if path.name.startswith(prefix)]


def _all_namespaces() -> dict[int, Path]:
    paths = [namespaces.ROOT]
    if namespaces.DIRECTORY.is_dir():
        paths += sorted(namespaces.DIRECTORY.iterdir())
    return {inode: path for path in paths if (inode := namespaces.inode_of(path)) is not None}


def _links_and_qdiscs(path: Path) -> tuple[list[str], list[str]]:
    try:
        with namespaces.open_netlink(path) as netlink:
            names = {message["index"]: message.get("ifname") for message in netlink.get_links()}
            return list(names.values()), _qdiscs(netlink, names)
    except OSError:
        return [], []  # gone meanwhile


def _qdiscs(netlink: IPRoute, names: dict[int, str]) -> list[str]:
    return [
        f"{names.get(message['index'])} {message.get('kind')}" for message in netlink.get_qdiscs()
    ]


def _mounts(testbed: str) -> list[str]:
    """Mount points with the id as a word of their path: /run/netns/tt-client0, /mnt/tt/stores."""
    word = re.compile(rf"(^|[/-]){re.escape(testbed)}([/-]|$)")
    points = (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    return sorted(point for point in points if word.search(point))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m turntable_testbed.fingerprint TESTBED_ID")
    print(json.dumps(take(sys.argv[1]), indent=2))


if __name__ == "__main__":
    main()
