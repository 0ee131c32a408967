"""This file explains tensors whose sizes do not fit together: in a loss, a product, a view, a join or a sum."""

import re

from torchmagic.analyses.crash_layers import Misfit
from torchmagic.analyses.crash_words import num_elements, shape_of, short, subject
from torchmagic.records.crash import CrashSiteRecord, TensorFact


def loss(site: CrashSiteRecord) -> Misfit | None:
    """Explain prediction and target that a loss cannot compare."""
    pair = _pair(site, "input", "target") if "loss" in site.operation or "entropy" in site.operation else None
    if pair is None:
        return None
    given, target = pair
    weighed = _weights(site, given, target)
    if weighed is not None:
        return weighed
    title = f"{site.operation} got {given.name} {shape_of(given)} and {target.name} {shape_of(target)}"
    if site.operation in ("cross_entropy", "nll_loss"):
        return Misfit(title, _why_classes(given, target), _fix_classes(given, target))
    shorter, longer = sorted(pair, key=lambda fact: len(fact.shape))
    if num_elements(given) == num_elements(target):
        return Misfit(
            title, "This loss compares element by element; the shapes must be equal.", _level(shorter, longer, site)
        )
    why = "This loss compares element by element; prediction and target do not have as many elements."
    return Misfit(
        title,
        why,
        f"make {given.name} and {target.name} of one shape: the layer in front of the loss decides the first",
    )


def _weights(site: CrashSiteRecord, given: TensorFact, target: TensorFact) -> Misfit | None:
    """Explain weights of classes that are not as many as the classes."""
    weight = next((fact for fact in site.weights if fact.name in ("weight", "pos_weight")), None)
    if weight is None or (given.shape != target.shape and "weight tensor" not in site.message):
        return None
    classes = given.shape[1] if len(given.shape) > 1 else given.shape[0]
    title = f"{site.operation} got a {weight.name} of {shape_of(weight)} for the {classes} classes of {given.name}"
    made = f"{site.class_name}({weight.name}=torch.ones({classes}))"
    return Misfit(title, "There must be one weight a class.", f"{made}  # with your own values")


def _level(shorter: TensorFact, longer: TensorFact, site: CrashSiteRecord) -> str:
    """Return what gives two tensors of as many elements one shape, on the one that the user's line names."""
    named = {fact.name for fact in site.tensors}
    if longer.shape[-1:] != (1,):
        return f"{longer.name}.view_as({shorter.name})"
    if longer.name not in named and shorter.name in named:
        return f"{shorter.name}.unsqueeze(-1)  # then both are {shape_of(longer)}"
    return f"{longer.name}.squeeze(-1)  # then both are {shape_of(shorter)}"


def _why_classes(given: TensorFact, target: TensorFact) -> str:
    wanted = (*given.shape[:1], *given.shape[2:])
    found = shape_of(target)
    return f"It wants the classes in dimension 1 of {given.name}, and then a target of {wanted}; it got {found}."


def _fix_classes(given: TensorFact, target: TensorFact) -> str:
    if len(target.shape) > 1 and target.shape[-1] == 1:
        return f"{target.name} = {target.name}.squeeze(-1)"
    if target.shape == (given.shape[0], 1, *given.shape[2:]):
        return f"{target.name} = {target.name}.squeeze(1)"
    if len(given.shape) > 2 and given.shape[:-1] == target.shape:  # noqa: PLR2004 - sequences
        return f"{given.name} = {given.name}.flatten(0, -2); {target.name} = {target.name}.flatten()  # classes last"
    if len(given.shape) == len(target.shape) == 2:  # noqa: PLR2004 - tables
        return f"{target.name} = {target.name}.argmax(1)  # the number of the class, not a row of ones and zeros"
    if given.shape[:1] != target.shape[:1]:
        return f"{given.name} must have one row a label: {target.shape[0] if target.shape else 1}, not {given.shape[0]}"
    return f"bring the classes of {given.name} into dimension 1"


def matmul(site: CrashSiteRecord) -> Misfit | None:
    """Explain two sides of a product whose inner sizes differ."""
    found = (
        "cannot be multiplied" in site.message or "size mismatch, got input" in site.message or "batch2" in site.message
    )
    facts = [fact for fact in (*site.tensors, *site.operands) if fact.shape]
    if not found or len(facts) != 2:  # noqa: PLR2004 - two sides
        return None
    left, right = facts
    title = f"{left.name} {shape_of(left)} cannot be multiplied with {right.name} {shape_of(right)}"
    inner = right.shape[-2] if len(right.shape) > 1 else right.shape[0]
    why = f"The last side of {left.name} ({left.shape[-1]}) must be the first side of {right.name} ({inner})."
    if len(right.shape) > 1 and right.shape[-1] == left.shape[-1]:
        return Misfit(title, why, f"{left.name} @ {right.name}.transpose(-2, -1)")
    if len(left.shape) > 1 and left.shape[-2] == inner:
        return Misfit(title, why, f"{left.name}.transpose(-2, -1) @ {right.name}")
    return Misfit(
        title, why, f"make the last side of {left.name} {inner}, or the first side of {right.name} {left.shape[-1]}"
    )


def view(site: CrashSiteRecord) -> Misfit | None:
    """Explain a view of more or fewer elements than there are."""
    found = re.search(r"shape '(\[[-\d, ]*\])' is invalid for input of size (\d+)", site.message)
    name = site.tensors[0].name if site.tensors else "the tensor"
    if "view size is not compatible" in site.message:
        fix = (site.expression or f"{name}.view(…)").replace(".view(", ".reshape(")
        return Misfit(f"{name} does not lie in memory in the order that view needs", short(site.message), fix)
    if found is None:
        return None
    shape = f" {shape_of(site.tensors[0])}" if site.tensors else ""
    title = f"{name}{shape} with {found[2]} elements does not fit into {found[1]}"
    why = "A view keeps all elements: the sizes that it asks for must multiply to as many."
    return Misfit(title, why, f"{name}.flatten(1)  # keeps the batch, whatever the other sizes are")


def join(site: CrashSiteRecord) -> Misfit | None:
    """Explain tensors that cannot be stacked or concatenated."""
    if "to be equal size" in site.message and site.operation.startswith(("collate", "default_collate")):
        fix = "DataLoader(…, collate_fn=…) that pads: torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)"
        return Misfit("The samples of a batch are not of one size", short(site.message), fix)
    if "converted to Python scalars" in site.message or "expected sequence of length" in site.message:
        fix = "torch.stack(tensors); of several lengths: torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)"
        why = "torch.tensor() takes numbers, and lists of them that are of one length."
        return Misfit(f"{subject(site)} makes one tensor of what is no regular list of numbers", why, fix)
    if not re.search(r"Sizes of tensors must match|to be equal size|same number of dimensions", site.message):
        return None
    shapes = ", ".join(f"{fact.name} {shape_of(fact)}" for fact in site.tensors) or short(site.message)
    return Misfit(
        f"{subject(site)} joins tensors that do not fit: {shapes}",
        short(site.message),
        _fitting(site),
    )


def _fitting(site: CrashSiteRecord) -> str:
    """Return what makes tensors fit that are to be joined: one dimension may be that of the join, more cannot be."""
    named = [fact for fact in site.tensors if fact.shape]
    sizes = [set(each) for each in zip(*(fact.shape for fact in named), strict=False)]
    differ = [str(dim) for dim, each in enumerate(sizes) if len(each) > 1]
    if len({len(fact.shape) for fact in named}) != 1 or len(differ) < 2:  # noqa: PLR2004 - more than that of the join
        return "join along the dimension in which they differ, or pad the shorter one"
    names, dims = " and ".join(fact.name for fact in named), " and ".join(differ)
    return f"give {names} one size in dimensions {dims} first: pad or crop one, or F.interpolate(…, size=…)"


def broadcast(site: CrashSiteRecord) -> Misfit | None:
    """Explain two tensors that cannot be stretched to one shape."""
    facts = [fact for fact in (*site.tensors, *site.operands) if fact.shape]
    if "must match" not in site.message or len(facts) < 2:  # noqa: PLR2004 - two sides
        return None
    left, right = facts[:2]
    title = f"{left.name} {shape_of(left)} and {right.name} {shape_of(right)} do not fit together"
    why = "Sizes are compared from the last dimension on: each pair must be equal, or one of them 1."
    if left.shape[:1] == right.shape[:1] and len(left.shape) != len(right.shape):
        shorter = min(facts[:2], key=lambda fact: len(fact.shape))
        return Misfit(title, why, f"{shorter.name}.unsqueeze(-1)")
    if len(left.shape) == len(right.shape) == 2 and left.shape == right.shape[::-1]:  # noqa: PLR2004 - tables
        return Misfit(title, why, f"{right.name}.T")
    return Misfit(title, why, f"bring {left.name} and {right.name} to one shape in front of this line")


def _pair(site: CrashSiteRecord, *_: str) -> tuple[TensorFact, TensorFact] | None:
    """Return what a loss compares: the first two tensors it was given."""
    return (site.operands[0], site.operands[1]) if len(site.operands) > 1 else None
