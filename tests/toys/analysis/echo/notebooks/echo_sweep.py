# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A UDP echo by offered load
#
# Latency is from the instant at which a request was to be sent. Results count valid rounds only;
# what is missing is a gap, never a zero.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>

# %%
import pandas as pd

import turntable
from turntable.system import analysis_of

run = turntable.load_run(run_directory)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %%
columns = ["rate_per_s", "offered_per_s", "delivered_per_s", "latency_p50_us", "latency_p99_us"]
pd.DataFrame(run.rows)[[*columns, "verdict"]]

# %%
analysis_of(run.plan).figures(run.cells)["latency_by_load"]
