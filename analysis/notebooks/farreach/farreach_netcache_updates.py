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
# # NetCache under writes: what its value updates cost, beside FarReach
#
# A write of a cached key waits at its server until the switch has acknowledged the value update of
# the one before. In service times that takes u · c: the round trip u of an update, times the
# capacity c of a server. `docs/farreach.md` (NetCache under writes) derives the model. Results
# count valid rounds only; what is missing is a gap, never a zero.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import stats
from turntable.systems.farreach import plot, tidy
from turntable.systems.farreach.updates import comparisons

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "farreach/netcache_updates")
    if newest
    else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
rounds = tidy.rounds(run)
rounds[["workload", "method", "update_round_trip_us", "busiest_utilization", "verdict"]]

# %% [markdown]
# ## FarReach / NetCache, and normalized NetCache
#
# `ratio` is of aggregate throughputs: normalized throughput cannot show what slows all partitions
# down in proportion. Published at 100 % writes are 1.865 / 0.653 MOPS = 2.86, which belongs to
# u · c of about 1.2.

# %%
table = pd.DataFrame(comparisons(run.cells))
table.round(3)

# %%
plot.updates(run.cells)

# %% [markdown]
# How far the measurement is from the model of the traces.

# %%
table.assign(
    ratio_error=table["ratio"] / table["model_ratio"] - 1,
    normalized_error=table["normalized"] / table["model_normalized"] - 1,
)[["workload", "in_services", "ratio_error", "normalized_error"]].round(3)

# %% [markdown]
# ## Aggregate throughput
#
# Mean over the valid rounds with the half-width of its 95 % interval (Student's t). On an emulated
# testbed only ratios may be compared with the paper's.

# %%
labels = {cell.id: cell.label for cell in run.cells}
valid = rounds[rounds["valid"]].assign(cell=rounds["cell"].map(labels))
stats.with_interval(valid, ["cell"], ["aggregate_ops_per_s"]).round(1)

# %% [markdown]
# ## Where the load went

# %%
for each in run.cells:
    print(each.label)
    display(plot.partitions(each))  # noqa: F821  (a notebook's own)
