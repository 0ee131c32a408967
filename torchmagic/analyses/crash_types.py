"""This file explains dtypes and devices that do not fit: who has which, and the call that makes them fit."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from torchmagic.analyses.crash_dtypes import dtypes_told, write_words
from torchmagic.analyses.crash_words import described, short, subject, tensors_of
from torchmagic.records.crash import CrashSiteRecord, TensorFact

_LONG_TARGET = re.compile(r"target dtype to be Long|scalar type Long|one of the following scalar types: Long")
_INDEX = re.compile(r"used as indices must be long|dtype int32/int64 for index|index tensor of type LongTensor")
_WHOLE = re.compile(r"not implemented for '(\w+)'|floating point|could not infer output dtype")
_NOT_FLOATS = frozenset({"int8", "int16", "int32", "int64", "uint8", "bool"})
_CALLS = {"float32": ".float()", "float64": ".double()", "float16": ".half()", "int64": ".long()", "bool": ".bool()"}


def type_words(site: CrashSiteRecord) -> tuple[str, str, str]:
    """Explain a mismatch of dtypes: title, why, fix."""
    if _LONG_TARGET.search(site.message):
        return _wants_long(site)
    if _INDEX.search(site.message):
        index = _first(site.tensors, lambda fact: fact.dtype.startswith("float"))
        name = index.name if index is not None else "index"
        return f"{subject(site)} takes only whole numbers as indices", short(site.message), f"{name}.long()"
    weight = next((fact for fact in site.weights if fact.dtype.startswith(("float", "bfloat"))), None)
    given = _first(site.given, lambda fact: weight is not None and fact.dtype != weight.dtype)
    if weight is not None and given is not None:
        return _wants_weights(site, given, weight)
    return _mixed(site)


def device_words(
    site: CrashSiteRecord, devices_of: Mapping[str, str] | None = None
) -> tuple[str, str, str, str | None]:
    """Explain a mismatch of devices: title, why, fix, and the parameter that lies elsewhere.

    Args:
        site: The scene.
        devices_of: The devices of the parameters of all models, by name.
    """
    weight = next(iter(site.weights), None)
    given = _first(site.given, lambda fact: weight is not None and fact.device != weight.device)
    if weight is not None and given is not None:
        name = subject(site) if site.is_torchs else _parameter(site, weight) or weight.name
        title = f"{name} lies on {weight.device} and its input on {given.device}"
        why = "Model and batch must lie on one device."
        root = (site.module or "model").partition(".")[0]
        if weight.device == "meta":
            why, fix = _without_values(site, weight, given.device, devices_of or {})
            return title, why, fix, _parameter(site, weight)
        fix = f"{_plain(given)} = {_plain(given)}.to({weight.device!r})"
        if given.device != "cpu":
            fix = f"{root}.to({given.device!r})  # before the optimizer is built"
        return title, why, fix, _parameter(site, weight)
    facts = tensors_of(site)
    devices = list(dict.fromkeys(fact.device for fact in facts))
    if len(devices) < 2:  # noqa: PLR2004 - two devices
        return (
            f"{subject(site)} needs its tensors on one device",
            short(site.message),
            "x = x.to(device)  # for model and every batch",
            None,
        )
    odd = _odd_device(facts, site)
    others = next(fact.device for fact in facts if fact.device != odd.device)
    title = f"{odd.name} lies on {odd.device}, the rest of the line on {others}"
    fix = f"{odd.name} = {odd.name}.to({others!r})"
    if odd.name.startswith("self."):
        fix = f"self.register_buffer({odd.name.removeprefix('self.')!r}, …)  # a plain attribute stays behind"
    return title, "Tensors that meet must lie on one device.", fix, None


def _without_values(
    site: CrashSiteRecord, weight: TensorFact, device: str, devices_of: Mapping[str, str]
) -> tuple[str, str]:
    """Explain what lies on meta: a whole model, or what was left there when the rest got its values."""
    path = _parameter(site, weight) or weight.name
    root, _, below = path.partition(".")
    others = {where for name, where in devices_of.items() if name.partition(".")[0] == root}
    if not others - {"meta"}:
        fix = f"{root}.to_empty(device={device!r})  # its values are then anything: load or initialise them"
        return "Model and batch must lie on one device. A model on meta has shapes and no values.", fix
    why = f"What lies on meta has a shape and no values. Other weights of {root} have theirs: {path} was left behind."
    if path in devices_of:
        return why, f"{root}.load_state_dict(state, assign=True)  # with a value for {below}"
    return (
        f"{why} A buffer that is not persistent is in no state_dict.",
        f"{path} = …  # compute it anew on {device}, as its class does",
    )


def _mixed(site: CrashSiteRecord) -> tuple[str, str, str]:
    """Explain a loss or an operation on tensors of several dtypes, or of one that it cannot work on."""
    loss = "loss" in site.operation or "entropy" in site.operation
    if loss and len(site.operands) > 1 and site.operands[0].dtype != site.operands[1].dtype:
        prediction, target = site.operands[:2]
        if prediction.dtype in _NOT_FLOATS and target.dtype not in _NOT_FLOATS:
            title = f"{site.operation} got {prediction.name} in {prediction.dtype} for the prediction"
            why = (
                f"{target.name}, its target, is {target.dtype}: a loss is given the prediction first, then the target."
            )
            return title, why, f"swap the two: {target.name} is what the model gives"
        title = f"{site.operation} got {prediction.name} in {prediction.dtype} and {target.name} in {target.dtype}"
        why = "This loss wants prediction and target in one floating-point dtype."
        return title, why, _converted(target, prediction.dtype)
    whole = _first((*site.tensors, *site.operands), lambda fact: fact.dtype in _NOT_FLOATS)
    if whole is not None and _WHOLE.search(site.message):
        title = f"{subject(site)} cannot work on {whole.name}, which is {whole.dtype}"
        return title, "Whole numbers and truth values have no such operation.", _converted(whole, "float32")
    if "could not infer output dtype" in site.message and site.expression.endswith(".mean()"):
        title = f"{site.expression} is a mean of values that are no floats"
        return title, short(site.message), site.expression.removesuffix(".mean()") + ".float().mean()"
    if (written := write_words(site)) is not None:
        return written
    told = dtypes_told(site.message)
    mixture = len(told) > 1
    # what torch does not complain about, such as a mask, is none of the two that do not fit
    facts = [fact for fact in tensors_of(site) if not mixture or fact.dtype in told]
    dtypes = list(dict.fromkeys(fact.dtype for fact in facts))
    title = f"{subject(site)} mixes " + " and ".join(dtypes if len(dtypes) > 1 or not mixture else told)
    if len(dtypes) < 2 and not mixture:  # noqa: PLR2004 - a mixture
        title = f"{subject(site)} does not take this dtype" + (
            f": {facts[0].name} is {facts[0].dtype}" if facts else ""
        )
    odd = _odd(facts)
    return (
        title,
        short(site.message),
        _converted(odd, "float32") if odd is not None else "convert one to the other's dtype",
    )


def _wants_long(site: CrashSiteRecord) -> tuple[str, str, str]:
    """Explain labels or indices that are no whole numbers."""
    indices = site.class_name.startswith("Embedding") or site.operation.startswith("embedding")
    facts = site.given if indices and site.given else site.operands[:1] if indices else site.operands[1:2]
    bad = next(iter(facts), None) or next(iter(site.tensors), None)
    name, dtype = (bad.name, bad.dtype) if bad is not None else ("target", "another dtype")
    what = "indices" if indices else "class labels"
    who = subject(site) if indices else site.operation or subject(site)
    title = f"{who} wants {what} as int64 (Long) and got {name} in {dtype}"
    return title, f"{what.capitalize()} are whole numbers, and torch wants them as such.", f"{name} = {name}.long()"


def _wants_weights(site: CrashSiteRecord, given: TensorFact, weight: TensorFact) -> tuple[str, str, str]:
    title = f"{subject(site)} has {weight.dtype} weights and got an input of {given.dtype}"
    why = f"A layer works in one dtype: {given.name} is {described(given)}."
    if given.dtype == "float64":
        why += " numpy makes float64 unless it is told otherwise."
    if weight.dtype in ("float16", "bfloat16", "float64") and given.dtype == "float32":
        return title, why, f"{_plain(given)} = {_plain(given)}.to(torch.{weight.dtype})"
    return title, why, _converted(given, weight.dtype)


def _converted(fact: TensorFact, dtype: str) -> str:
    name = _plain(fact).rpartition("(")[2].rstrip(")")  # what a module was given, as its forward calls it
    return f"{name} = {name}{_CALLS.get(dtype, f'.to(torch.{dtype})')}"


def _plain(fact: TensorFact) -> str:
    """Return a name that can be assigned to: what only torch names is an ``x``."""
    return "x" if fact.name in ("input", "args") else fact.name


def _odd(facts: Sequence[TensorFact]) -> TensorFact | None:
    """Return the tensor that is not float32 where others are."""
    return _first(facts, lambda fact: fact.dtype != "float32")


def _odd_device(facts: Sequence[TensorFact], site: CrashSiteRecord) -> TensorFact:
    """Return the tensor on the device that fewest share; on the host where it is a tie."""
    counts = Counter(fact.device for fact in facts)
    own = {fact.name for fact in site.tensors} or {fact.name for fact in facts}
    named = [fact for fact in facts if fact.name in own] or list(facts)
    return min(named, key=lambda fact: (counts[fact.device], "." not in fact.name, fact.device != "cpu"))


def _parameter(site: CrashSiteRecord, weight: TensorFact) -> str | None:
    return f"{site.module}.{weight.name}" if site.module else None


def _first(facts: Sequence[TensorFact], fits: Callable[[TensorFact], bool]) -> TensorFact | None:
    return next((fact for fact in facts if fits(fact)), None)
