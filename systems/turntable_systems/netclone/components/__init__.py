"""What the run asks of NetClone's nodes, one module per component."""
