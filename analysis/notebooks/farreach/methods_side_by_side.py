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
# # FarReach, experiments 3 to 6: the methods side by side
#
# By number of servers, share of writes, distribution of keys, or size of values. Results count
# valid rounds only; what is missing is a gap, never a zero. What the columns mean:
# `docs/farreach.md`.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest of experiment 4

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import stats
from turntable.systems.farreach import plot, tidy
from turntable.systems.farreach.gains import gains

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "farreach/exp04_write_ratio")
    if newest
    else run_directory
)
print(f"{run.plan.title}: run {run.name}, profile {run.plan.profile}, {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
rounds = tidy.rounds(run)
cell = ["workload", "servers", "value_bytes", "method"]
rounds[[*cell, "round", "iterations_ok", "busiest_utilization", "verdict"]]

# %% [markdown]
# ## Prediction, traces, paper, measurement
#
# Normalized throughput: mean over the valid rounds with the half-width of its 95 % interval
# (Student's t).

# %%
expected = ["predicted_normalized", "trace_normalized", "paper_normalized"]
measured = stats.with_interval(rounds[rounds["valid"]], cell, ["normalized_throughput"])
rounds.groupby(cell, sort=False)[expected].mean().reset_index().merge(measured, "left").round(2)

# %%
plot.bars(run.cells)

# %% [markdown]
# ## FarReach's gain
#
# Its aggregate throughput by that of the other method. NetCache's trace-exact values are those of a
# model of its value updates (`docs/workloads.md`, section 6).

# %%
pd.DataFrame(
    {
        "beside": gain.cell.label,
        "paper": gain.paper,
        "trace": gain.trace,
        "measured": gain.measured.mean if gain.measured else None,
    }
    for gain in gains(run.cells)
).round(2)
