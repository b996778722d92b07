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
# # Shadowfax: throughput of a store
#
# Clients keep pipelines of batches full. A round trip is that of a batch in a full pipeline: by
# Little's law it follows from the throughput, and is no service time.

# %% tags=["parameters"]
run_directory = None  # results/<experiment>/<run>; None takes the newest

# %%
from pathlib import Path

import pandas as pd

import turntable
from turntable import tidy
from turntable.systems.shadowfax import plot

pd.set_option("display.max_colwidth", None)  # verdicts give their reasons

newest = run_directory is None
run = turntable.load_run(
    turntable.find_run(Path("../../../results"), "shadowfax/batch_size")
    if newest
    else run_directory
)
print(f"run {run.name}, profile {run.plan.profile}, fidelity class {run.fidelity_class}")

# %% [markdown]
# ## May the numbers be believed?

# %%
tidy.rounds(run)[
    [
        *("store", "workload", "distribution", "batch_operations", "pipeline", "memory_share"),
        *("round", "verdict"),
    ]
]

# %% [markdown]
# ## Throughput and round trips
#
# `consistency` is the mean round trip beside what Little's law asks for.

# %%
tidy.rounds(run)[
    [
        *("store", "workload", "distribution", "batch_operations", "pipeline", "memory_share"),
        *("aggregate_ops_per_s", "round_trip_mean_us", "consistency", "server_busy_share"),
        *("client_busy_share", "pending_share"),
    ]
]

# %%
plot.by_batch(run.cells)

# %%
plot.by_memory(run.cells)

# %%
plot.beside(run.cells)
