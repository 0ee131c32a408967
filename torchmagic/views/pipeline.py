"""This file is the page of several models that belong together."""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted
from torchmagic.records.modelinfo import ModelRecord, PipelineRecord
from torchmagic.views.modelinfo import by_kind, mode, model_blocks, sentence
from torchmagic.views.numbers import as_bytes, as_share
from torchmagic.views.page import Block, Cell, Facts, Fold, Page, Table, Text

_MOST_KINDS = 3


def pipeline_page(record: PipelineRecord) -> Page:
    """Tell several models: totals, a row for each, and each one's page folded below."""
    title = f"{record.name}: {record.class_name}" if record.name else record.class_name
    return Page(title=title, blocks=tuple(_blocks(record)))


def _blocks(record: PipelineRecord) -> Iterator[Block]:
    count = len(record.components)
    shared = sum(each.num_parameters for each in record.components) - record.num_parameters
    told = f"; {shared:,} parameters are in more than one of them, counted once" if shared else ""
    yield Text(
        text=f"{counted(count, 'model')}, {record.num_parameters:,} parameters, {as_bytes(record.num_bytes)}{told}"
    )
    for component in record.components:
        for concern in component.concerns:
            if concern.is_wrong:
                yield Text(text=f"{component.name}: {sentence(concern)}", strong=True)
    rows = [_component(each, record.num_bytes) for each in record.components]
    columns = ("component", "class", "parameters", "trainable", "bytes", "share", "kind", "mode")
    yield Table(title="Models", columns=columns, rows=rows)
    if record.others:
        yield Facts(rows=[("also holds", ", ".join(f"{name} ({kind})" for name, kind in record.others))])
    for each in record.components:
        blocks = [block for block in model_blocks(each, None) if not isinstance(block, Text)]
        yield Fold(title=f"{each.name}: {each.class_name}", blocks=blocks)
    for note in record.notes:
        yield Text(text=f"Note: {note}.")


def _component(record: ModelRecord, total: int) -> tuple[Cell, ...]:
    kinds = by_kind(record.tensors)
    return (
        record.name,
        record.class_name,
        record.num_parameters,
        record.num_trainable,
        as_bytes(record.num_bytes),
        as_share(record.num_bytes / total) if total else "",
        ", ".join(kind for kind, _ in kinds[:_MOST_KINDS]),
        mode(record).removeprefix("in "),
    )
