"""One model, closely: its tree, its tensors, one forward that changes nothing, and what training it would take."""
