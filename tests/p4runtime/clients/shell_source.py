"""p4runtime-shell sets a program by its P4 source."""

from pathlib import Path

import p4runtime_sh.shell as sh
from steps import arguments, run, step


def session():
    address, election_id, p4info, _ = arguments()
    source = Path(p4info).with_name("source.p4")
    sh.setup(
        device_id=1,
        grpc_addr=address,
        election_id=(0, election_id),
        config=sh.FwdPipeConfig(p4info, str(source)),
        verbose=False,
    )
    entry = sh.TableEntry("Ingress.forward")(action="Ingress.send")
    entry.match["hdr.ethernet.dst_addr"] = "02:00:00:00:00:05"
    entry.action["port"] = "3"
    entry.insert()
    step("set")


run(session)
