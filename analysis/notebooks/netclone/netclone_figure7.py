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
# # NetClone, figure 7: latency against load
#
# Four distributions of service times, five methods. Times and rates are undilated. Results count
# valid rounds only; saturated cells have throughput and no latency, and are gaps in the figure.
# What the columns mean: `docs/netclone.md`.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import tidy
from turntable.systems.netclone import peaks, plot, shape

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons
pd.set_option("display.max_rows", None)

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "netclone/figure7") if newest else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
rounds = tidy.rounds(run)
where = ["distribution", "method", "load"]
rounds[[*where, "offered_rps", "delivered_rps", "loss_share", "state", "verdict"]]

# %% [markdown]
# ## p99 against load
#
# With marks: measured. Thin: the long run of a simulation of the same queues.

# %%
plot.p99_by_load(run.cells)

# %% [markdown]
# The same in a queueing model of the paper's own scale, 6 servers of 15 workers. The paper's figure
# has this shape; its numbers are not published.

# %%
plot.paper_scale(run.cells)

# %% [markdown]
# ## Measured beside the replay of the same draws
#
# Where p99 of a bimodal distribution sits between two values, the share of latencies above
# `tail_us` says more.

# %%
steady = rounds[rounds["valid"] & (rounds["state"] == "steady")]
compared = ["mean_us", "p50_us", "p99_us", "p999_us", "share_above_tail"]
beside = steady[where].copy()
for column in compared:
    beside[column] = steady[column]
    beside[f"{column} / trace"] = steady[column] / steady[f"trace_{column}"]
beside.round(3)

# %% [markdown]
# ## Clones

# %%
plot.clones_by_load(run.cells)

# %%
clones = ["clone_rate", "clones_dropped_share", "redundant_share", "trace_clone_rate"]
steady[[*where, *clones]].round(4)

# %% [markdown]
# ## Peak throughput

# %%
pd.DataFrame(peaks.peaks(run.cells))[["distribution", "method", "servers", "peak_0", "peak_2"]]

# %% [markdown]
# ## The paper's shape

# %%
pd.DataFrame(shape.findings(run.rows))
