"""What the programs of this directory share: each is one client's session with a switch, step by
step. After a step the test looks at the switch, sends frames, and lets the program go on.

    PROGRAM ADDRESS ELECTION_ID P4INFO [CA CERTIFICATE KEY]
"""

import json
import os
import sys
import traceback


def arguments():
    """The address, the election id, the P4Info's file and, with TLS, three PEM files."""
    address, election_id, p4info, *pem = sys.argv[1:]
    return address, int(election_id), p4info, pem


def step(name, **facts):
    """Tells the test, and waits until it has looked. facts: what the client has seen."""
    print(json.dumps({"step": name, **facts}), flush=True)
    if not sys.stdin.readline():
        raise EOFError("the test has ended")


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}; expected {wanted!r}")


def run(session):
    """Ends the process with the session, whatever threads of the client wait for."""
    status = 0
    try:
        session()
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
