"""Starts and ends bf_switchd: one is running with these arguments and ready, or none is."""

import hashlib
import json
import os
import signal
import subprocess

from .common import (
    Refused,
    describe,
    is_open,
    output_of,
    process,
    read,
    status,
    switchds,
    tail,
    wait_until,
    write,
)
from .common import environment as environment_of

RECORD = "switchd.json"


def run(state, check, **arguments):
    return {"started": start, "stopped": stop}[state](check=check, **arguments)


def start(check, argv, conf, environment, directory, unit, ports, deadlines, take_over):
    """argv: of bf_switchd or of a wrapper around it; unit: path, name and text of a systemd unit,
    or None.
    """
    env = environment_of(environment)
    wanted = {"argv": argv, "environment": environment, "conf": digest(conf), "unit": unit}
    record, ours = read_record(directory)
    others = [its for its in switchds() if not ours or its["pid"] != ours["pid"]]
    if others and not take_over:
        raise Refused(
            "%s is in the way: a chip has one owner. End it, or say -e take_over=true"
            % " and ".join(map(describe, others))
        )
    if ours and record["wanted"] == wanted and not others and status(ports["status"]):
        require_open(ports, directory, deadlines)
        return {"changed": False, "pid": ours["pid"]}
    if check:
        return {"changed": True, "pid": None}
    if not os.path.isfile(conf):
        raise Refused(
            "%s is missing; expected the conf of a compiled program (role p4_program)" % conf
        )
    for its in others + ([ours] if ours else []):
        end(its["pid"], deadlines["stop"])
    wait_closed(ports, deadlines["stop"])
    log = os.path.join(directory, "switchd.log")
    write(log, "")
    launch = start_unit if unit else start_process
    alive = launch(argv, env, directory, log, unit)
    pid = wait_ready(alive, log, ports, deadlines)
    its = process(pid)
    write(
        os.path.join(directory, RECORD),
        json.dumps({"pid": pid, "started": its["started"], "wanted": wanted}),
    )
    require_open(ports, directory, deadlines)
    return {"changed": True, "pid": pid}


def start_process(argv, env, directory, log, _):
    """A session of its own: it outlives the login that starts it, and whatever it starts is known
    by the session.
    """
    with open(log, "ab") as file:
        child = subprocess.Popen(
            argv,
            cwd=directory,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )

    def alive():
        """The bf_switchd of the session, which a wrapper or sudo may have started; None before
        there is one.
        """
        ended = child.poll()
        found = [its["pid"] for its in switchds() if its["session"] == child.pid]
        if not found and ended is not None:
            raise Refused("it ended with exit status %d before it was ready" % ended)
        return found[0] if found else None

    return alive


def start_unit(argv, env, directory, log, unit):
    if read(unit["path"]) != unit["text"]:
        write(unit["path"], unit["text"])
    for command in (["daemon-reload"], ["restart", unit["name"]]):
        failed, said = output_of(["systemctl"] + command, env)
        if failed:
            raise Refused("systemctl %s: %s" % (" ".join(command), said.strip()))

    def alive():
        said = output_of(
            ["systemctl", "show", "--property=MainPID,ActiveState", unit["name"]], env
        )[1]
        values = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
        if values.get("ActiveState") in ("failed", "inactive"):
            raise Refused("unit %s is %s" % (unit["name"], values["ActiveState"]))
        return int(values.get("MainPID", "0")) or None

    return alive


def wait_ready(alive, log, ports, deadlines):
    """Asks for its state until it says ready. What is started is ended if it does not get there."""
    pid = None
    seen = []

    def ready():
        nonlocal pid
        pid = alive() or pid
        if pid:
            seen.append(pid)
        if pid and process(pid) is None:
            raise Refused("bf_switchd %d ended before it was ready" % pid)
        return pid and status(ports["status"])

    try:
        if wait_until(ready, deadlines["ready"]) is None:
            raise Refused(
                "bf_switchd %s did not become ready within %s s: its status port %d says %s; "
                "expected 1"
                % (
                    pid,
                    deadlines["ready"],
                    ports["status"],
                    {False: 0, None: "nothing"}[status(ports["status"])],
                )
            )
    except Refused as refused:
        for one in set(seen):
            end(one, deadlines["stop"])
        raise Refused("%s\nthe end of %s:\n%s" % (refused, log, tail(log)))
    return pid


def require_open(ports, directory, deadlines):
    """Ready is what the status port says; the doors that are used afterwards are looked at as
    well.
    """
    log = os.path.join(directory, "switchd.log")
    for name, port in sorted(ports.items()):
        if not wait_until(lambda port=port: is_open(port), deadlines["open"]):
            raise Refused(
                "bf_switchd is ready but its port %d (%s) is closed; expected it open.\nthe "
                "end of %s:\n%s" % (port, name, log, tail(log))
            )


def stop(check, directory, ports, deadlines):
    """Ends the one that this role started, and nobody else's."""
    record, ours = read_record(directory)
    path = os.path.join(directory, RECORD)
    if not ours:
        if record and not check:
            os.remove(path)
        return {"changed": False, "killed": False}
    if check:
        return {"changed": True, "killed": False}
    unit = record["wanted"]["unit"]
    if unit:
        output_of(["systemctl", "stop", unit["name"]], environment_of({}), deadlines["stop"] + 10)
    killed = end(ours["pid"], deadlines["stop"])
    wait_closed(ports, deadlines["stop"])
    os.remove(path)
    return {"changed": True, "killed": killed}


def end(pid, deadline_s):
    """SIGTERM to bf_switchd itself (its sudo hands nothing on), then SIGKILL; whether it took
    that.
    """
    its = process(pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        if wait_until(lambda: not same(process(pid), its), deadline_s):
            return number == signal.SIGKILL
    raise Refused(
        "bf_switchd %d lives on after SIGKILL: it hangs in the kernel. Reload the module, or reboot"
        % pid
    )


def same(one, other):
    """An id is used again; with the time of its start it is one process's alone."""
    return bool(one and other) and (one["pid"], one["started"]) == (other["pid"], other["started"])


def wait_closed(ports, deadline_s):
    for name, port in sorted(ports.items()):
        if not wait_until(lambda port=port: not is_open(port), deadline_s):
            raise Refused(
                "port %d (%s) is still open; expected it free. Whose is it: ss -lptn" % (port, name)
            )


def read_record(directory):
    """What was started here, and its process if that still runs."""
    text = read(os.path.join(directory, RECORD))
    if not text:
        return None, None
    record = json.loads(text)
    its = process(record["pid"])
    same = its is not None and its["started"] == record["started"]
    return record, its if same else None


def digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None
