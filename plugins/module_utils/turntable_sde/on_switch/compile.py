"""Compiles a P4 program into a directory named by everything that its result depends on."""

import hashlib
import json
import os
import shutil

from .common import Refused, output_of, read, write
from .common import environment as environment_of

VERDICT = "turntable.json"
SENTENCES = {
    1: "the program does not compile",
    2: "the compiler was called with arguments that it does not take",
    3: "the program does not fit the chip or breaks one of its rules",
    4: "the compiler itself failed on this program",
    100: "a tool of the compiler's chain was not found: is the assembler installed?",
    124: "the compiler did not end in time",
    127: "the compiler was not found",
}


def run(name, top, sources, flags, compiler, version, root, environment, deadline_s, check):
    """sources: text by path, relative to the program's directory; top: that of the program."""
    digest = digest_of(sources, flags, compiler, version)
    directory = os.path.join(root, "%s-%s" % (name, digest[:12]))
    known = read(os.path.join(directory, VERDICT))
    if known and json.loads(known)["digest"] == digest and wrong_with(directory, 0) is None:
        return dict(json.loads(known), changed=False)
    if check:
        return {"changed": True, "directory": directory, "digest": digest}
    env = environment_of(environment)
    work = directory + ".new"
    shutil.rmtree(work, ignore_errors=True)
    for path, text in sources.items():
        write(os.path.join(work, "source", path), text)
    output = os.path.join(work, "output")
    program = os.path.join(work, "source", top)
    argv = [compiler, "--target", "tofino", "--arch", "tna", "-g"] + flags + ["-o", output, program]
    status, said = output_of(argv, env, deadline_s)
    write(os.path.join(work, "compiler.log"), said)
    reason = wrong_with(work, status)
    if reason:
        kept = directory + ".failed"
        shutil.rmtree(kept, ignore_errors=True)
        os.rename(work, kept)
        raise Refused(
            "%s: %s (exit status %d); all that the compiler said: %s\n%s"
            % (
                name,
                reason,
                status,
                os.path.join(kept, "compiler.log"),
                "\n".join(said.splitlines()[-20:]),
            )
        )
    for path in (directory, directory + ".failed"):
        shutil.rmtree(path, ignore_errors=True)
    os.rename(work, directory)
    verdict = finish(name, directory, digest, version)
    return dict(verdict, changed=True)


def digest_of(sources, flags, compiler, version):
    text = json.dumps([sources, flags, compiler, version], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def wrong_with(directory, status):
    """What there is to say against a compilation; None if it succeeded.

    An exit status of 0 alone is no proof, nor is a manifest or a binary.
    """
    if status != 0:
        return SENTENCES.get(status, "the compiler failed")
    output = os.path.join(directory, "output")
    try:
        manifest = json.loads(read(os.path.join(output, "manifest.json")))
    except ValueError:
        return "the compiler ended with 0 but left no manifest.json"
    if manifest.get("compilation_succeeded") is not True:
        return "the compiler ended with 0 but its manifest says that compilation failed"
    binaries = found(output, "tofino.bin")
    if not binaries or not all(os.path.getsize(path) for path in binaries):
        return "the compiler ended with 0 but left no tofino.bin"
    return None


def found(directory, *names):
    """Files of these names anywhere below a directory."""
    paths = []
    for parent, _, files in os.walk(directory):
        paths += [os.path.join(parent, file) for file in sorted(files) if file in names]
    return sorted(paths)


def finish(name, directory, digest, version):
    """Gives the conf absolute paths, and writes down what the directory is."""
    output = os.path.join(directory, "output")
    conf = os.path.join(output, name + ".conf")
    document = json.loads(read(conf, "null"))
    if document is None:
        raise Refused(
            "%s: the compiler left no %s; expected an assembler in its chain" % (name, conf)
        )
    schema = found(output, "bfrt.json", "bf-rt.json")
    for device in document["p4_devices"]:
        for program in device["p4_programs"]:
            if schema:
                program["bfrt-config"] = schema[0]
            for pipeline in program["p4_pipelines"]:
                place = os.path.join(output, pipeline["p4_pipeline_name"])
                pipeline["context"] = os.path.join(place, "context.json")
                pipeline["config"] = os.path.join(place, "tofino.bin")
                pipeline["path"] = output
    write(conf, json.dumps(document, indent=2) + "\n")
    verdict = {
        "name": name,
        "digest": digest,
        "directory": directory,
        "conf": conf,
        "schema": schema[0] if schema else None,
        "version": version,
        "reports": found(
            output,
            "context.json",
            "resources.json",
            "phv.json",
            "metrics.json",
            "manifest.json",
            "bfrt.json",
        ),
    }
    write(os.path.join(directory, VERDICT), json.dumps(verdict, indent=1) + "\n")
    return verdict
