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
# # NetClone: the switch fails and returns
#
# The switch is killed and started again while clients send. All of its state is soft: once its
# tables are written, requests are answered and cloned as before.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import turntable
from turntable import plot, tidy
from turntable.system import analysis_of

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "netclone/switch_failure")
    if newest
    else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %%
tidy.rounds(run)[["round", "offered_rps", "delivered_rps", "loss_share", "verdict"]]

# %% [markdown]
# ## Throughput over time

# %%
analysis = analysis_of(run.plan)
for cell in run.cells:
    display(plot.seconds(cell, analysis.series, analysis.series_label))  # noqa: F821

# %%
tidy.seconds(run).pivot_table("value", ["round", "second"], "series")
