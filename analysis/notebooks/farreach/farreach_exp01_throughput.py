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
# # FarReach, experiment 1: throughput under server rotation
#
# Measured numbers beside the prediction, the replayed traces and the paper. Results count valid
# rounds only; what is missing is a gap, never a zero. What the columns mean: `docs/farreach.md`.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import stats
from turntable.systems.farreach import plot, tidy

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "farreach/exp01_throughput")
    if newest
    else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
rounds = tidy.rounds(run)
rounds[
    ["workload", "method", "servers", "round", "iterations_ok", "busiest_utilization", "verdict"]
]

# %% [markdown]
# ## Prediction, traces, paper, measurement
#
# Mean over the valid rounds with the half-width of its 95 % interval (Student's t).

# %%
cell = ["workload", "method", "servers"]
expected = ["predicted_normalized", "trace_normalized", "paper_normalized"]
measured = stats.with_interval(
    rounds[rounds["valid"]], cell, ["normalized_throughput", "imbalance_ratio"]
)
rounds.groupby(cell, sort=False)[expected].mean().reset_index().merge(measured, "left").round(3)

# %%
plot.throughput(run.cells)

# %% [markdown]
# The published bars of all methods, and what this run measured of them. On an emulated testbed only
# ratios may be compared. Nothing is drawn for parameters that were not published.

# %%
plot.published(run.cells)

# %% [markdown]
# ## Latency: queueing in a saturated closed loop
#
# Percentiles come from merged histograms. They say nothing about how fast a server is.

# %%
plot.latency(run.cells)

# %% [markdown]
# ## Where the load went

# %%
for each in run.cells:
    print(each.label)
    display(plot.partitions(each))  # noqa: F821  (a notebook's own)

# %%
servers = tidy.servers(run)
servers.groupby(["workload", "servers", "round", "role"])["utilization"].describe().round(3)
