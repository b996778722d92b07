"""The original's server.py, ycsb.py and process_ycsb (docs/shadowfax.md)."""
