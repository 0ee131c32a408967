"""This file is the raw parts: what of a tensor is data, where data stand beside what a model has learned."""

import torch

CAT = "CatBackward"


def raw_part(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return a tensor that no graph leads to, or the columns of one that were joined to learned ones.

    None where all of it is learned, and where it cannot be told which columns are data.
    """
    node = tensor.grad_fn
    if node is None:
        return tensor
    if not node.name().startswith(CAT) or node._saved_dim % (1 << 64) not in (tensor.dim() - 1, (1 << 64) - 1):  # type: ignore[attr-defined]
        return None
    widths = [None if made is None else made._input_metadata[place].shape[-1] for made, place in node.next_functions]
    first, last = (next((i for i, width in enumerate(each) if width is None), None) for each in (widths, widths[::-1]))
    if first is None or last is None:
        return None
    before, after = sum(filter(None, widths[:first])), sum(filter(None, widths[len(widths) - last :]))
    between = widths[first : len(widths) - last]
    columns = tensor.detach()[..., before : tensor.shape[-1] - after]
    return columns if between.count(None) == len(between) and columns.shape[-1] else None
