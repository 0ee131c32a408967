"""This file explains what does not fit into one of torch's layers, and the line that makes it fit."""

from typing import NamedTuple

from torchmagic.analyses.crash_words import attribute, num_elements, shape_of, short, subject
from torchmagic.records.crash import CrashSiteRecord, TensorFact


class Misfit(NamedTuple):
    """A mismatch in words: the title, why it is one, and what to change."""

    title: str
    why: str
    fix: str


_INPUTS = {
    "RNN": "input_size", "LSTM": "input_size", "GRU": "input_size", "RNNCell": "input_size", "LSTMCell": "input_size",
    "GRUCell": "input_size", "MultiheadAttention": "embed_dim",
}  # fmt: skip
_NORMS = ("num_features", "normalized_shape", "num_channels")


def linear(site: CrashSiteRecord) -> Misfit | None:
    """Explain an input of another width than a linear layer was built for."""
    wanted = _number(site.settings.get("in_features"))
    if not wanted or "mat1 and mat2 shapes" not in site.message or not site.given or not site.given[0].shape:
        return None
    given, fact, name = site.given[0].shape[-1], site.given[0], _name(site.given[0], site)
    title = f"{subject(site)} expects {wanted} features and got {given}: its input is {shape_of(fact)}"
    rows = fact.shape[0]
    if len(fact.shape) > 2 and rows and num_elements(fact) == wanted * rows:  # noqa: PLR2004 - more than a table
        why = f"Only the last dimension counts as features: {shape_of(fact)} was not flattened."
        return Misfit(title, why, f"{name} = {name}.flatten(1)  # ({rows}, {wanted}), before {site.module}")
    if len(fact.shape) == 2 and rows == wanted:  # noqa: PLR2004 - a table
        return Misfit(title, "Rows and columns are swapped.", f"{name} = {name}.T  # samples first, features last")
    made = f"{attribute(site.module or '')} = nn.{site.class_name}({given}, {site.settings.get('out_features', '…')})"
    return Misfit(title, "A layer's first number must be the size of what comes in.", made)


def conv(site: CrashSiteRecord) -> Misfit | None:
    """Explain an input without the channels that a convolution was built for."""
    wanted = _number(site.settings.get("in_channels"))
    if not wanted or not site.given:
        return None
    fact, name = site.given[0], _name(site.given[0], site)
    sides = int(site.class_name[-2]) if site.class_name[-2:-1].isdigit() else 2
    out, kernel = site.settings.get("out_channels", "…"), site.settings.get("kernel_size", "…")
    channels = f"{wanted} channel{'s' * (wanted != 1)}"
    title = f"{subject(site)} expects {channels} and got an input of {shape_of(fact)}"
    if "channels, but got" in site.message or len(fact.shape) not in (sides + 1, sides + 2):
        if wanted == 1 and len(fact.shape) == sides + 1:
            fix = f"{name} = {name}.unsqueeze(1)  # the dimension of channels, before {site.module}"
            return Misfit(title, "The dimension of channels is missing, and the batch was taken for it.", fix)
        if len(fact.shape) == sides + 2 and fact.shape[-1] == wanted:
            order = ", ".join(map(str, (0, sides + 1, *range(1, sides + 1))))
            fix = f"{name} = {name}.permute({order})  # channels second, before {site.module}"
            return Misfit(title, "The channels come last; torch wants them second.", fix)
        if len(fact.shape) == sides + 2:
            title = f"{subject(site)} expects {channels} and got {fact.shape[1]}: its input is {shape_of(fact)}"
            fix = f"{attribute(site.module or '')} = nn.{site.class_name}({fact.shape[1]}, {out}, {kernel})"
            return Misfit(title, "A layer's first number must be the channels of what comes in.", fix)
        return Misfit(
            title, short(site.message), f"give {site.module} an input of batch, {wanted} channels and {sides} sides"
        )
    title = f"{subject(site)} cannot work on an input of {shape_of(fact)}"
    return Misfit(title, short(site.message), "use a smaller kernel, padding, or fewer layers that halve the input")


def norm(site: CrashSiteRecord) -> Misfit | None:
    """Explain an input without the features that a normalisation was built for."""
    setting = next((name for name in _NORMS if name in site.settings), None)
    if setting is None or not site.given or not site.is_torchs:
        return None
    fact, wanted = site.given[0], site.settings[setting]
    title = f"{subject(site)} expects {setting}={wanted} and got an input of {shape_of(fact)}"
    if "input (got" in site.message:
        return Misfit(
            title,
            short(site.message),
            f"use the class for inputs of {len(fact.shape)} dimensions in place of {site.class_name}",
        )
    given = fact.shape[-1] if setting == "normalized_shape" else fact.shape[1] if len(fact.shape) > 1 else fact.shape[0]
    made = f"{attribute(site.module or '')} = nn.{site.class_name}({given})"
    return Misfit(title, "It was built for another number of features than comes in.", made)


def recurrent(site: CrashSiteRecord) -> Misfit | None:
    """Explain an input or a hidden state that does not fit a recurrent layer or attention."""
    setting = _INPUTS.get(site.class_name)
    if setting is None or not site.given:
        return None
    fact, wanted = site.given[0], site.settings.get(setting)
    layers, hidden = site.settings.get("num_layers", "layers"), site.settings.get("hidden_size", "…")
    if "hidden" in site.message:
        title = (
            f"{subject(site)} was given a hidden state of another size than its batch: the input is {shape_of(fact)}"
        )
        batch = 0 if site.settings.get("batch_first") == "True" else 1
        state = f"torch.zeros({layers}, {_name(fact, site)}.size({batch}), {hidden})"
        fix = f"start the hidden state of each batch by its size: {state}"
        return Misfit(title, short(site.message), fix)
    if "mask" in site.message:
        title = f"{subject(site)} was given a mask of another shape than its sequence: the input is {shape_of(fact)}"
        fix = "attn_mask=… of (length, length); what is padded belongs into key_padding_mask=… of (batch, length)"
        return Misfit(title, short(site.message), fix)
    given = fact.shape[-1] if fact.shape else 0
    if str(given) == wanted:
        return None
    title = f"{subject(site)} expects {setting}={wanted} and got {given}: its input is {shape_of(fact)}"
    fix = f"{attribute(site.module or '')} = nn.{site.class_name}({given}, {hidden}, …)"
    return Misfit(title, short(site.message), fix)


def _name(fact: TensorFact, site: CrashSiteRecord) -> str:
    """Return what the user's line calls a tensor, or a plain ``x``."""
    return fact.name if any(fact.name == each.name for each in site.tensors) else "x"


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0
