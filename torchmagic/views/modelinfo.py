"""This file is the page of one model."""

import re
from collections import Counter
from collections.abc import Iterator

from torchmagic.records.modelinfo import (
    Concern,
    ForwardFacts,
    Held,
    HeldTensor,
    ModelRecord,
    TrainingMemory,
)
from torchmagic.views.module_table import module_tables
from torchmagic.views.numbers import as_bytes, as_count, as_seconds, as_shape
from torchmagic.views.page import Block, Cell, Facts, Fold, Page, Shares, Table, Text

_MOST_NAMES = 3
_FEW = 2  # names that differ in a number only; more of them are one with a star
_INDEX = re.compile(r"(?<![^.])\d+(?![^.])")
_MOST_TENSORS = 2000
_FLOPS_PER_MAC = 2
_OF_ONE = "Below a row that stands for several modules the numbers are of one of them."


def model_page(record: ModelRecord, *, depth: int | None = None) -> Page:
    """Tell one model: headline, what is wrong, facts, tree, memory of a training step, tensors.

    Args:
        record: Facts about the model.
        depth: Levels of the tree to show; None for all.

    Returns:
        A page whose strong texts are exactly what is wrong.
    """
    title = f"{record.name}: {record.class_name}" if record.name else record.class_name
    return Page(title=title, blocks=tuple(model_blocks(record, depth)))


def model_blocks(record: ModelRecord, depth: int | None) -> Iterator[Block]:
    """Yield what a model's page tells, in order."""
    yield Text(text=_headline(record))
    forward = record.forward
    if forward is not None and forward.error:
        yield Text(text=_failure(forward), strong=True)
    for concern in record.concerns:
        if concern.is_wrong:
            yield Text(text=sentence(concern), strong=True)
    yield Facts(rows=tuple(_rows(record)))
    table, more, has_repeats = module_tables(record, depth=depth)
    yield table
    if has_repeats:
        yield Text(text=_OF_ONE)
    noted = [concern for concern in record.concerns if not concern.is_wrong]
    if noted:
        rows = [(each.kind, _names(each.names), each.text) for each in noted]
        yield Table(title="Worth knowing", columns=("what", "where", "meaning"), rows=rows)
    yield from _memory(record.memory)
    yield Fold(title="Bytes and settings of each module", blocks=(more,))
    if record.tensors:
        yield Fold(title=f"All {len(record.tensors):,} tensors", blocks=(_tensor_table(record.tensors),))
    if forward is None:
        yield Text(text=_invitation(record))
    for note in record.notes:
        yield Text(text=f"Note: {note}.")


def _headline(record: ModelRecord) -> str:
    total, trainable = record.num_parameters, record.num_trainable
    share = (
        "all trainable" if trainable == total else f"{trainable:,} of them trainable" if trainable else "none trainable"
    )
    lazy = sum(each.is_lazy for each in record.tensors)
    known = f"{total:,} parameters, {share}" if total else "no parameters"
    words = [f"{lazy:,} parameters have no shape yet" if lazy else known, as_bytes(record.num_bytes)]
    kinds = by_kind(tuple(each for each in record.tensors if each.held is Held.PARAMETER))
    if len(kinds) == 1:
        words.append(kinds[0][0])
    forward = record.forward
    if forward is not None and not forward.error:
        words.append(f"{as_count(forward.flops // _FLOPS_PER_MAC)} multiply-adds for {forward.inputs}")
    return "; ".join(words)


def _failure(forward: ForwardFacts) -> str:
    place = f"{forward.failed_in} ({forward.failed_class})" if forward.failed_in else forward.failed_class
    where = f" in {place}, which was given {forward.failed_inputs or 'nothing with a shape'}" if place else ""
    error = forward.error.rstrip(".")
    return f"Its forward raised{where}: {error}. What follows is known without running it."


def sentence(concern: Concern) -> str:
    """Write what should be looked at as a sentence."""
    return f"{_names(concern.names)}: {concern.text}."


def _names(names: tuple[str, ...]) -> str:
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_INDEX.sub("*", name), []).append(name)
    each = [general if len(same) > _FEW else ", ".join(same) for general, same in alike.items()]
    told = ", ".join(name or "the model itself" for name in each[:_MOST_NAMES])
    return told if len(each) <= _MOST_NAMES else f"{told} and {len(each) - _MOST_NAMES:,} more"


def _rows(record: ModelRecord) -> Iterator[tuple[str, str]]:
    yield "parameters", _parameters(record)
    for held, name in ((Held.BUFFER, "buffers"), (Held.PACKED, "packed weights")):
        held_so = [each for each in record.tensors if each.held is held]
        if held_so:
            count = sum(each.num_elements for each in held_so)
            yield (
                name,
                f"{count:,} values in {len(held_so):,} tensors, {as_bytes(sum(each.num_bytes for each in held_so))}",
            )
    kinds = by_kind(record.tensors)
    if kinds:
        yield "bytes", ", ".join(f"{kind} {as_bytes(size)}" for kind, size in kinds)
    yield "modules", f"{sum(not part.shared_with for part in record.modules):,}, {mode(record)}"
    if record.forward is not None:
        yield from _forward_rows(record.forward)


def _parameters(record: ModelRecord) -> str:
    tensors = [each for each in record.tensors if each.held is Held.PARAMETER]
    frozen = record.num_parameters - record.num_trainable
    parts = [f"{record.num_trainable:,} trainable", f"{frozen:,} frozen"]
    shared = [each for each in tensors if each.also]
    if shared:
        parts.append(f"{sum(each.num_elements for each in shared):,} shared, counted once")
    lazy = sum(each.is_lazy for each in tensors)
    if lazy:
        parts.append(f"{lazy:,} without a shape yet")
    return ", ".join(parts)


def by_kind(tensors: tuple[HeldTensor, ...]) -> list[tuple[str, int]]:
    """Return the bytes of each dtype on each device, the most first."""
    sizes: Counter[str] = Counter()
    for each in tensors:
        sizes[f"{each.dtype} on {each.device}"] += each.num_bytes
    return sizes.most_common()


def mode(record: ModelRecord) -> str:
    """Say in which mode the modules are."""
    training = sum(part.training for part in record.modules)
    if training in (0, len(record.modules)):
        return "in training mode" if training else "in evaluation mode"
    return f"{training:,} in training mode, {len(record.modules) - training:,} in evaluation mode"


def _forward_rows(forward: ForwardFacts) -> Iterator[tuple[str, str]]:
    yield "run as", f"{forward.call}, in {forward.mode} mode"
    yield "input", f"{forward.inputs or 'none with a shape'}, {as_bytes(forward.input_bytes)}"
    if forward.error:
        return
    yield "output", forward.output or "nothing with a shape"
    yield "operations", f"{as_count(forward.flops)} FLOPs, {as_count(forward.flops // _FLOPS_PER_MAC)} multiply-adds"
    if forward.seconds is not None:
        yield "forward", f"{as_seconds(forward.seconds)} without gradients"
    yield "kept for backward", as_bytes(forward.saved_bytes)


def _memory(choices: tuple[TrainingMemory, ...]) -> Iterator[Block]:
    if not choices:
        return
    first = choices[0]
    parts = [
        ("parameters", first.parameters),
        ("gradients", first.gradients),
        (f"state of {first.optimizer}{'' if first.is_measured else ' (estimated)'}", first.state),
        ("buffers", first.buffers),
        ("input", first.batch),
        ("kept for backward", first.activations or 0),
    ]
    without = "" if first.activations is not None else ", without what a forward keeps"
    title = f"Memory of a training step with {first.optimizer}{without}: {as_bytes(first.total)}"
    yield Shares(title=title, parts=[(name, float(size)) for name, size in parts if size], unit="B")
    others = ", ".join(f"{each.optimizer} {as_bytes(each.total)}" for each in choices[1:])
    if others:
        yield Text(text=f"With other optimizers: {others}. Allocators, temporary buffers and libraries come on top.")


def _tensor_table(tensors: tuple[HeldTensor, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            each.name,
            each.held.value,
            "not known yet" if each.is_lazy else as_shape(each.shape),
            each.dtype,
            each.device,
            each.num_elements,
            as_bytes(each.num_bytes),
            ("yes" if each.trainable else "no") if each.held is Held.PARAMETER else "",
            ", ".join(each.also),
        )
        for each in tensors[:_MOST_TENSORS]
    ]
    columns = ("tensor", "held as", "shape", "dtype", "device", "values", "bytes", "trainable", "also called")
    return Table(columns=columns, rows=rows)


def _invitation(record: ModelRecord) -> str:
    size = record.likely_input or "1,3,32,32"
    return (
        "Not run, because no input was given. "
        f"With --input-size {size} or --batch NAME (input_size=… or batch=… in Python) it also tells shapes, "
        "operations, times, what is kept for the backward, and what is never used."
    )
