"""This file explains sizes that do not fit: what was expected, what was given, and the line that makes them fit."""

import re

from torchmagic.analyses.crash_joins import broadcast, join, loss, matmul, view
from torchmagic.analyses.crash_layers import Misfit, conv, linear, norm, recurrent
from torchmagic.analyses.crash_words import shape_of, short, subject
from torchmagic.records.crash import CrashSiteRecord

_SIZES = re.compile(
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)"
)
_STATE = re.compile(
    r"size mismatch for ([\w.]+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[([\d, ]*)\]\)"
)


def misfit(site: CrashSiteRecord) -> Misfit:
    """Explain a mismatch of shapes."""
    for explain in (linear, conv, norm, recurrent, loss, matmul, view, join, broadcast):
        found = explain(site)
        if found is not None:
            return found
    if "only for scalar outputs" in site.message and site.tensors:
        name = site.tensors[0].name
        title = f"backward() is called on {name}, which is {shape_of(site.tensors[0])} and not a single number"
        why = "A gradient without more ado is that of one number: the mean or sum over the samples."
        return Misfit(title, why, f"{name}.mean().backward()  # or a loss that does not have reduction='none'")
    sizes = _SIZES.search(site.message)
    if sizes is not None:
        title = f"{subject(site)} meets sizes {sizes[1]} and {sizes[2]} in dimension {sizes[3]}"
        fix = (
            "bring both sides to one size there, as a residual connection does with a 1×1 convolution or a linear layer"
        )
        return Misfit(title, "Each pair of sizes must be equal, or one of them 1.", fix)
    state = _STATE.search(site.message)
    if state is not None:
        title = f"the checkpoint's {state[1]} is ({state[2]}), and that of {site.module or 'the model'} ({state[3]})"
        return Misfit(
            title,
            "The checkpoint belongs to a model of other sizes.",
            "build the model with the sizes of the checkpoint",
        )
    named = dict.fromkeys(f"{fact.name} {shape_of(fact)}" for fact in (*site.tensors, *site.operands))
    shapes = ", ".join(list(named)[:4])
    title = f"{subject(site)} cannot work on these shapes" + (f": {shapes}" if shapes else "")
    return Misfit(
        title, short(site.message), "print the shapes in front of this line, and change the one you did not expect"
    )
