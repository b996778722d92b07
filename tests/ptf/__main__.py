"""Packet tests that others wrote for BF Runtime: the PTF tests of open-p4studio's examples,
unmodified, on `p4soft run`.

    make ptf OPEN_P4STUDIO=DIRECTORY PTF_PYTHON=/path/to/python [PROGRAMS="tna_counter ..."]

OPEN_P4STUDIO is a checkout, PTF_PYTHON an environment with ptf, scapy, grpcio-tools,
googleapis-common-protos, six and crcmod; nothing of either gets into this repository. Needs root,
for the network namespace in which switch and tests are. Exit status: 0 if all chosen programs were
tried, whatever their tests say, 1 if one was not, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .environment import PARTS, Environment, ImportFailedError, missing_modules
from .examples import Example, examples
from .testbed import Links, Switch, SwitchError

CLASS_TIMEOUT_S = 1800


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    # As Ctrl-C does it: switch and namespace are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    found = examples(options.studio, options.programs)
    passed = total = untried = 0
    with tempfile.TemporaryDirectory(prefix="ptf-") as temporary:
        environment = Environment(options.python, options.studio, Path(temporary))
        for example in found:
            try:
                verdicts = run(example, environment, Path(temporary))
            except (SwitchError, ImportFailedError) as error:
                print(f"{example.name}: {error}", flush=True)
                untried += 1
                continue
            good = sum(not reason for reason in verdicts.values())
            passed, total = passed + good, total + len(verdicts)
            print(f"{example.name}: {good} of {len(verdicts)}", flush=True)
    print(
        f"{passed} of {total} classes pass, of {len(found) - untried} programs; "
        f"{untried} programs not tried"
    )
    return 1 if untried else 0


def run(example: Example, environment: Environment, directory: Path) -> dict[str, str]:
    """Of each class why it fails, or nothing. A switch serves until a test fails, which may leave
    entries behind.
    """
    verdicts: dict[str, str] = {}
    with Links(example.ports) as links:
        names = environment.classes(example, links)
        while len(verdicts) < len(names):
            with Switch(example, links, directory):
                for name in names[len(verdicts) :]:
                    reason = environment.failure(example, links, name, CLASS_TIMEOUT_S)
                    verdicts[name] = reason
                    print(f"  {name:44} {reason or 'ok'}", flush=True)
                    if reason:
                        break
    return verdicts


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ptf", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--studio", type=Path, required=True, help="a checkout of open-p4studio")
    parser.add_argument("--python", type=Path, required=True, help="of an environment with ptf")
    parser.add_argument("programs", nargs="*", help="names of examples; without, all")
    options = parser.parse_args(arguments)
    for part in PARTS:
        if not (options.studio / part).is_dir():
            parser.error(f"--studio {options.studio}: no {part} in it; expected a checkout of "
                         "github.com/p4lang/open-p4studio (docs/others-tests.md)")  # fmt: skip
    if not examples(options.studio, []):
        parser.error(f"--studio {options.studio}: none of its examples has a test.py")
    if not os.access(options.python, os.X_OK):
        parser.error(f"--python {options.python}: no program; expected that of an environment "
                     "with ptf (docs/softswitch.md)")  # fmt: skip
    if missing := missing_modules(options.python):
        parser.error(f"--python {options.python}: it has no {', '.join(missing)}; expected an "
                     "environment made as docs/others-tests.md says")  # fmt: skip
    if os.geteuid() != 0:
        parser.error("network namespaces need root; run it with sudo")
    unknown = set(options.programs) - {each.name for each in examples(options.studio, [])}
    if unknown:
        parser.error(f"no examples with a test.py: {', '.join(sorted(unknown))}")
    options.studio = options.studio.resolve()
    options.python = options.python.absolute()  # not resolved: a link says which environment
    return options


if __name__ == "__main__":
    sys.exit(main())
