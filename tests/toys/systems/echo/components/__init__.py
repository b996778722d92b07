"""What the run asks of echo's nodes, one module per component."""
