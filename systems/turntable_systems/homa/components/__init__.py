"""What the run asks of Homa's nodes, one module per component."""
