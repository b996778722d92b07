"""What the programs share. A program is common.py, one of its neighbours, and a call of its
function `run`.
"""

import json
import os
import socket
import subprocess
import sys
import time

# Between two looks at something that is awaited.
INTERVAL_S = 0.2


class Refused(Exception):  # noqa: N818  an answer, not a fault
    """The switch is not as it has to be. Says what, what was expected, and what to do."""


def environment(given):
    """Of programs of the SDE: what was given, and what every program needs. Nothing comes from
    profile files.
    """
    return dict(
        {"HOME": "/root", "LANG": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, **given
    )


def output_of(argv, env, deadline_s=60):
    """Exit status and both outputs as one text; 127 if there is no such program."""
    try:
        done = subprocess.run(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=deadline_s,
        )
    except OSError as error:
        return 127, str(error)
    except subprocess.TimeoutExpired:
        return 124, "no end within %s s" % deadline_s
    return done.returncode, done.stdout.decode(errors="replace")


def read(path, default=""):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return default


def process(pid):
    """What /proc knows of a process; None if there is none, or it has ended."""
    stat = read("/proc/%d/stat" % pid)
    words = stat.rpartition(")")[2].split()
    if not words or words[0] == "Z":
        return None
    name = stat[stat.find("(") + 1 : stat.rfind(")")]
    try:
        owner = os.stat("/proc/%d" % pid).st_uid
        network = os.readlink("/proc/%d/ns/net" % pid)
    except OSError:
        return None
    argv = [word for word in read("/proc/%d/cmdline" % pid).split("\0") if word]
    return {
        "pid": pid,
        "name": name,
        "parent": int(words[1]),
        "session": int(words[3]),
        "started": int(words[19]),
        "owner": owner,
        "network": network,
        "argv": argv,
    }


def switchds():
    """All bf_switchd of this machine that would be in the way: they share its network, or hold its
    device.
    """
    here = os.readlink("/proc/self/ns/net")
    found = []
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        its = process(pid)
        if its and its["name"] == "bf_switchd" and (its["network"] == here or holds_device(pid)):
            found.append(its)
    return found


def holds_device(pid):
    try:
        files = os.listdir("/proc/%d/fd" % pid)
        return any(os.readlink("/proc/%d/fd/%s" % (pid, f)).startswith("/dev/bf") for f in files)
    except OSError:
        return False


def describe(its):
    """A process in words: id, owner, age and program."""
    import pwd

    try:
        owner = pwd.getpwuid(its["owner"]).pw_name
    except KeyError:
        owner = str(its["owner"])
    uptime = float(read("/proc/uptime", "0").split()[0])
    age = uptime - its["started"] / float(os.sysconf("SC_CLK_TCK"))
    argv = its["argv"]
    conf = argv[argv.index("--conf-file") + 1] if "--conf-file" in argv[:-1] else "no conf"
    return "bf_switchd %d of user %s, running for %d s, %s" % (its["pid"], owner, age, conf)


def status(port, device=0):
    """Whether bf_switchd says that the device is ready; None: nobody answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(str(device).encode())
            answer = connection.recv(1)
    except OSError:
        return None
    return {b"1": True, b"0": False}.get(answer)


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def tail(path, lines=50):
    return "\n".join(read(path).splitlines()[-lines:])


def write(path, text, mode=0o644):
    """Whole or not at all."""
    directory = os.path.dirname(path)
    if not os.path.isdir(directory):
        os.makedirs(directory, 0o755)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.rename(path + ".new", path)


def wait_until(condition, deadline_s):
    """The condition's first true value; None after the deadline."""
    end = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            return None
        time.sleep(INTERVAL_S)  # waits: interval of a probe with a deadline


def answer(function, arguments):
    """Ends the program: one line of JSON, after a mark that no banner of a login has."""
    try:
        result = {"ok": function(**arguments)}
    except Refused as refused:
        result = {"refused": str(refused)}
    sys.stdout.write("\nturntable-answer:" + json.dumps(result) + "\n")
