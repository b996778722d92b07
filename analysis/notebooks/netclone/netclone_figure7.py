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
# All are to be within 10 %. Where p99 of a bimodal distribution sits between two values, the share
# of latencies above `tail_us` is compared instead (off_tail). The replay has LAEDGE's credits as
# measured, so off_credit is for how much longer than work and idle path they were taken: to be at
# most 5 %.

# %%
steady = rounds[rounds["valid"] & (rounds["state"] == "steady")]
off = ["off_mean", "off_p50", "off_p99", "off_p999", "off_tail", "off_credit", "off_replay"]
steady[[*where, *off]].round(3)

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
columns = ["distribution", "method", "servers", "peak_0", "peak_2"]
pd.DataFrame(peaks.peaks(run.cells), columns=columns)  # none: one load alone

# %% [markdown]
# ## The paper's shape

# %%
pd.DataFrame(shape.findings(shape.rows_of(run.cells)))
