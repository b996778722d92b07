# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: -jupytext.text_representation
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # FarReach, experiment 2: latency at target throughputs
#
# Requests leave at instants that were drawn before, so below saturation latencies are true ones.
# Results count valid rounds only; what is missing, or saturated, is a gap, never a zero. What is
# predicted, and why arrivals at every server are Poisson: `docs/farreach.md`, Latency at target
# throughputs.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable.systems.farreach import plot, targets, tidy

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "farreach/exp02_latency")
    if newest
    else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May it be believed?

# %%
labels = {cell.id: cell.label for cell in run.cells}
rounds = tidy.rounds(run)
rounds.assign(cell=rounds["cell"].map(labels))[["cell", "round", "iterations_ok", "verdict"]]

# %% [markdown]
# ## Latency (µs), from the intended instants

# %%
rows = targets.targets(run.cells)
none = "no cell of this run has an open loop"
index = [row.cell.label for row in rows]
latency = pd.DataFrame([row.latency_us for row in rows], index=index, dtype=float)
latency.insert(0, "state", [row.gap or row.state for row in rows])
latency.round(0) if rows else none

# %%
plot.latency_by_target(run.cells) or none

# %% [markdown]
# ## The wait at the busiest partition's server (µs) beside M/D/1
#
# Measured: mean latency of what it answered, less that of requests sent one at a time.

# %%
waits = pd.DataFrame(
    {
        "load": [row.load for row in rows],
        "measured": [row.wait_us.mean if row.wait_us else None for row in rows],
        "predicted": [row.predicted_wait_us for row in rows],
    },
    index=index,
    dtype=float,
)
waits.assign(apart=waits["measured"] / waits["predicted"] - 1).round(3) if rows else none

# %% [markdown]
# ## Published (µs)
#
# Of servers that take some 10 µs per operation, at targets that were the same for all methods.

# %%
pd.DataFrame(
    [
        {"method": row.method, "target_ops_per_s": row.target_ops_per_s, "share": row.share}
        | dict(row.latency_us)
        for row in targets.published(run.reference_file)
    ]
).round(2)
