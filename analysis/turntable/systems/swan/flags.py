"""Swan's flags and the parameters of ours that they are: names, notation, what is refused.

docs/swan-store.md has the same as a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable_core.errors import InputError, TurntableError, did_you_mean
from turntable_systems.swan.loads import SEPARATOR

ROUNDS = "rounds"  # no parameter of a cell, but as old

# What Swan calls the row without an aggressor: ours always has it.
_BASELINES = ("None", "Baseline")
JOINED = SEPARATOR  # a comma in an extra variable begins another level


@dataclass(frozen=True)
class Flag:
    name: str  # Swan's, or the parameter's own
    parameter: str
    does: str
    read: Callable[[str], Any] = str  # of a flag's text; ValueError for what is none
    write: Callable[[Any], str] = str
    form: str = "a text"  # in words


def _whole(text: str) -> int:
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return int(value) if value.is_integer() else value


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}


def duration_s(text: str) -> float:
    """Of Go's notation: 15s, 1m30s, 500ms; a bare number is seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|us|h|m|s)", text)
    if parts and "".join(map("".join, parts)) == text:
        return _number(str(sum(float(count) * _UNITS[unit] for count, unit in parts)))
    return _number(text)


def _seconds(value: float) -> str:
    return f"{value:g}s"


def _aggressors(text: str) -> str:
    return JOINED.join(name for name in _parts(text) if name not in _BASELINES)


def _with_baseline(value: str) -> str:
    return ",".join(["None", *_parts(str(value))])


def _loads(text: str) -> str:
    """Shares of the peak."""
    return JOINED.join(f"{float(part):g}" for part in _parts(text))


def _joined(text: str) -> str:
    """A list of processors, or a distribution with its parameters."""
    return text.replace(",", JOINED)


def _listed(value: Any) -> str:
    return str(value).replace(JOINED, ",")


def _commas(value: str) -> str:
    return ",".join(_parts(str(value)))


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[,+\s]+", text) if part]


def _bool(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
        text.lower()
    ]


def _of_bool(value: Any) -> str:
    return str(value).lower()


_INT = {"read": _whole, "form": "a whole number"}
_NUM = {"read": _number, "form": "a number"}
_TIME = {"read": duration_s, "write": _seconds, "form": "a duration such as 15s or 1m30s"}
_LIST = {"read": _joined, "write": _listed, "form": "a list"}
_BOOL = {"read": _bool, "write": _of_bool, "form": "true or false"}

FLAGS: Mapping[str, Flag] = {
    flag.name: flag
    for flag in (
        Flag("experiment_slo", "slo_us", "SLO of the percentile, in microseconds", **_NUM),
        Flag("experiment_load_points", "load_points", "how many loads, up to the peak", **_INT),
        Flag("experiment_load_duration", "measure_s", "measured window of an iteration", **_TIME),
        Flag("experiment_repetitions", ROUNDS, "repetitions of all aggressors and loads", **_INT),
        Flag("experiment_peak_load", "peak_load", "peak, requests/s; 0: search for it", **_NUM),
        Flag(
            "experiment_tail_latency_percentile", "percentile",
            "percentile that the SLO is for", **_NUM
        ),
        Flag(
            "experiment_be_workloads", "aggressors", "aggressors, with commas; the row without one "
            "(None) is always measured", _aggressors, _with_baseline, "names with commas",
        ),
        Flag("experiment_hp_workload_cpu_count", "hp_count", "CPUs of memcached", **_INT),
        Flag("experiment_be_workload_cpu_count", "be_count", "CPUs of an aggressor", **_INT),
        Flag(
            "experiment_hp_workload_cpu_range", "hp_cpus",
            "memcached's CPUs by hand, as 0-2", **_LIST
        ),
        Flag(
            "experiment_be_workload_l1_cpu_range", "l1_cpus",
            "CPUs of aggressors on L1, by hand", **_LIST
        ),
        Flag(
            "experiment_be_workload_l3_cpu_range", "l3_cpus",
            "CPUs of other aggressors, by hand", **_LIST
        ),
        Flag("memcached_threads", "threads", "threads of memcached", **_INT),
        Flag("memcached_threads_affinity", "threads_affinity", "a CPU for each thread", **_BOOL),
        Flag(
            "memcached_connections", "max_connections", "connections that memcached takes", **_INT
        ),
        Flag("memcached_max_memory", "memory_mb", "memory of memcached, in MB", **_INT),
        Flag("memcached_port", "memcached_port", "port of memcached", **_INT),
        Flag("memcached_user", "memcached_user", "as whom memcached runs"),
        Flag("memcached_timeout", "memcached_timeout_s", "wait until memcached answers", **_TIME),
        Flag("mutilate_tuning_time", "tune_s", "window of the search's probes", **_TIME),
        Flag("mutilate_agent_threads", "client_threads", "threads of each load generator", **_INT),
        Flag("mutilate_records", "records", "keys that are stored", **_INT),
        Flag("mutilate_update", "update", "share of SETs, 0 to 1", **_NUM),
        Flag(
            "mutilate_agent_connections", "connections",
            "connections of each load generator", **_INT
        ),
        Flag(
            "mutilate_agent_connections_depth", "depth",
            "requests at once on each connection", **_INT
        ),
        Flag(
            "mutilate_master_keysize", "key_size", "size of keys: bytes, or a distribution", **_LIST
        ),
        Flag(
            "mutilate_master_valuesize", "value_size",
            "size of values: bytes, or a distribution", **_LIST
        ),
        Flag("mutilate_master_interarrival_dist", "arrivals", "gaps between requests", **_LIST),
        Flag("mutilate_warmup_time", "warmup_s", "load before the window", **_TIME),
        Flag("layout", "layout", "same-core, shared-cache, automatic or manual"),
        Flag("isolation", "isolation", "mechanism; several with commas: -experiment=isolation"),
        Flag("be_shares", "be_shares", "cpu.shares of the aggressor", **_INT),
        Flag("quota_share", "quota_share", "share of a CPU for the aggressor", **_NUM),
        Flag("be_processes", "be_processes", "processes of an aggressor that does not say", **_INT),
        Flag("baselines", "baselines", "rows without an aggressor, per repetition", **_INT),
        Flag(
            "loads", "loads",
            "shares of the peak, in place of load points", _loads, _commas, "shares"
        ),
        Flag("protocol", "protocol", "ascii or binary"),
        Flag("transport", "transport", "tcp or unix"),
        Flag("drain_time", "drain_s", "wait after the window, for late answers", **_TIME),
        Flag("seed", "seed", "seed of order and arrivals", **_INT),
    )
}  # fmt: skip
_BY_PARAMETER = {flag.parameter: flag for flag in FLAGS.values()}

# Swan's flags that say nothing here, by the beginning of their names -> what to use instead.
REFUSED: Mapping[str, str] = {
    "cassandra_": "results are kept in results/swan.sqlite, which needs no server",
    "influxdb_": "results are kept in results/swan.sqlite, which needs no server",
    "default_metadata_db": "results are kept in results/swan.sqlite, which needs no server",
    "snapteld_": "what nodes measure is read from their raw files; no Snap is needed",
    "default_snap_publisher": "what nodes measure is read from their raw files; no Snap is needed",
    "kubernetes": "memcached and aggressors run as processes; isolation is -isolation",
    "remote_ssh_": "hosts and their logins are the inventory's: -inventory DIRECTORY",
    "experiment_mutilate_": "load generators are the group `clients` of the inventory: -inventory "
    "DIRECTORY",
    "mutilate_agent_port": "load generators talk over the testbed's control network",
    "mutilate_": "the load generator is mcload: -e NAME=VALUE sets its parameters (docs/swan.md)",
    "memcached_listening_address": "it is the server's in the inventory: -inventory DIRECTORY",
    "stressng_": "-be_processes=N for all aggressors, or a file of one's own with -e "
    "aggressors_file=FILE",
    "caffe_": "a training with scikit-learn stands for Caffe: experiments/swan/jobs/aggressors.yml",
    "experiment_run_caffe": "placement of an aggressor is in experiments/swan/jobs/aggressors.yml",
    "experiment_be_": "-be_processes=N for all aggressors, or a file of one's own with -e "
    "aggressors_file=FILE",
    "experiment_stop_on_error": "a failed iteration is tried again: -e max_attempts=N",
    "experiment_load_generator_wait_timeout": "every wait has a deadline "
    "(experiments/swan/defaults.yml)",
    "debug_treat_be_as_service": "an aggressor that ends early makes its iteration invalid, always",
    "log_level": "-v, -vv or -vvv are passed on to ansible-playbook",
}


class RefusedFlagError(TurntableError):
    """A flag of Swan's that has no meaning here."""


def find(name: str, where: str, value: str) -> Flag:
    """name: lower case. Raises RefusedFlagError, and InputError for what is no flag at all."""
    if name in FLAGS:
        return FLAGS[name]
    for begin, instead in REFUSED.items():
        if name.startswith(begin):
            raise RefusedFlagError(f"{where}: {name} has no meaning here: {instead}")
    known = did_you_mean(name, FLAGS)
    raise InputError(
        where, name, value, f"a flag that `swan sensitivity-profile -help` shows{known}"
    )


def read(flag: Flag, where: str, text: str) -> Any:
    """A parameter's value; several levels, joined with commas, stay a text."""
    if "," in text and flag.read not in (_aggressors, _loads, _joined):
        return text
    try:
        return flag.read(text)
    except (ValueError, KeyError):
        raise InputError(where, flag.name, text, flag.form) from None


def of_parameters(levels: Mapping[str, Sequence[Any]], rounds: int) -> dict[str, str]:
    """Flag -> its text, of all cells together; parameters without a flag of their own by name."""
    found = {}
    for name, values in levels.items():
        flag = _BY_PARAMETER.get(name)
        write = flag.write if flag else _text
        found[flag.name if flag else name] = ",".join(map(write, values))
    return found | {_BY_PARAMETER[ROUNDS].name: str(rounds)}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
