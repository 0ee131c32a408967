"""One tensor, closely: statistics, layout, preview; and reductions over many tensors at once."""
