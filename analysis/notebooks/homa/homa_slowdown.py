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
# # Homa: slowdown by size of the message
#
# Slowdown is a call's round trip over that of Homa's on the idle network, for its size. Results
# count valid rounds only; saturated cells have no slowdowns. What the columns mean: `docs/homa.md`.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import tidy
from turntable.systems.homa import figure, shape, summary

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons
pd.set_option("display.max_rows", None)

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "homa/slowdown") if newest else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
rounds = tidy.rounds(run)
where = ["sizes", "load", "method"]
rounds[[*where, "round", "offered_mbps", "delivered_mbps", "calls", "state", "verdict"]]

# %% [markdown]
# ## The parameters that followed from sizes and links

# %%
rounds[[*where, "dilation", "mean_bytes", "rtt_bytes", "cutoffs", "degree"]].drop_duplicates()

# %% [markdown]
# ## p99 slowdown as the paper draws it
#
# With marks: measured. Thin: a simulation of the same calls. Hollow: the paper's testbed.

# %%
figure.slowdown_by_size(run.cells)

# %% [markdown]
# ## By tenth of the messages, smallest first

# %%
valid = rounds[rounds["valid"]]
valid.groupby(where, sort=False)[list(summary.OF_TENTHS)].median().round(2)

# %% [markdown]
# The same, predicted.

# %%
predicted = [f"predicted_{name}" for name in summary.OF_TENTHS]
valid.groupby(where, sort=False)[predicted].median().round(2)

# %% [markdown]
# ## The paper's shape

# %%
found = shape.findings(run.cells)
pd.DataFrame({"statement": f.statement, "holds": f.holds, "where not": f.failed} for f in found)

# %% [markdown]
# ## What the smallest messages wait on true links
#
# Round trips of the smallest tenth, divided by the dilation.

# %%
valid.groupby(where, sort=False)[["p50_half", "p99_half", "true_rtt_p99_smallest_us"]].median()
