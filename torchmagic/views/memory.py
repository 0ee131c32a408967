"""This file is the memory part of a run's resources: what it was used for, and who holds more than needed."""

from collections.abc import Iterator, Mapping, Sequence

from torchmagic.analyses.memory_use import MemoryUse, memory_use
from torchmagic.records.memory import HolderRecord, RetainedGraphRecord, UnseenGraphRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_bytes, as_shape, byte_unit
from torchmagic.views.page import Block, Line, Plot, Shares, Table, Text

PROCESS = (("rss_bytes", "process"), ("cuda_bytes", "CUDA allocated"), ("cuda_peak_bytes", "CUDA peak"))
AFTER_BACKWARD = (
    "The peak was the end of a step, when gradients are there and the backward has let go of all activations; before "
    "the backward, less was used."
)
CURE = {
    "output": "Outputs of cells are kept: end the line with a semicolon, or free them with %reset -f out.",
    "traceback": "The last traceback keeps its variables: free them with "
    "import sys; sys.last_exc = sys.last_value = sys.last_traceback = None",
}


def holder_blocks(run: Run) -> list[Block]:
    """Return who holds more than the loop needs, and how to let go of it; nothing where nobody does."""
    return list(_held(run))


def memory_facts(run: Run) -> list[tuple[str, str]]:
    """Return the peak of each measure of the process and how far it grew, and the peak of what the model uses."""
    found = [(name, run.series(metric)[1]) for metric, name in PROCESS]
    rows = [
        (f"{name} memory, peak", f"{as_bytes(max(values))} ({_growth(values)})") for name, values in found if values
    ]
    use = memory_use(run)
    if use is not None:
        rows.append(("memory of the model, peak", f"{as_bytes(sum(use.peak.values()))} at step {use.step}"))
        if use.on_cpu and use.other:
            # on a CPU the rest is the whole process, beside which a small model could not be seen
            rows.append(("rest of the process", f"{as_bytes(use.other)}: interpreter, libraries, data"))
    return rows


def memory_shares(run: Run) -> list[Block]:
    """Return what the memory of the model is used for at its peak; nothing where that was not measured."""
    use = memory_use(run)
    if use is None:
        return []
    parts = list(use.peak.items()) + ([] if use.on_cpu else [("other", use.other)])
    blocks: list[Block] = [
        Shares(title="Memory of the model at its peak", parts=[part for part in parts if part[1]], unit="B")
    ]
    if use.peak.get("activations") == 0 and use.peak.get("gradients"):
        blocks.append(Text(text=AFTER_BACKWARD))
    return blocks


def memory_plots(run: Run) -> list[Block]:
    """Return the memory of the model and of the process over the steps, and what of it could not be seen."""
    use = memory_use(run)
    blocks: list[Block] = [_stack(use)] if use is not None and len(use.steps) > 1 else []
    blocks += process_plot(run)
    steps, values = run.series("live_graphs") if run.of(RetainedGraphRecord) else ([], [])
    if len(steps) > 1:
        lines = [Line(name="graphs", steps=steps, values=values)]
        blocks.append(Plot(title="graphs of earlier steps that are alive", lines=lines))
    blocks += [Text(text=text) for text in dict.fromkeys(map(_unseen, run.of(UnseenGraphRecord)))]
    return blocks


def process_plot(run: Run) -> list[Block]:
    """Return the memory of the process over the steps, and what was free where that is known; or nothing."""
    found = {name: run.series(metric) for metric, name in PROCESS if run.series(metric)[0]}
    return [_plot("memory of the process", found)] if found else []


def _growth(values: Sequence[float]) -> str:
    grown = values[-1] - values[0]
    return f"{'+' if grown >= 0 else '-'}{as_bytes(abs(grown))} over the run"


def _held(run: Run) -> Iterator[Block]:
    graphs = run.of(RetainedGraphRecord)
    if graphs:
        yield Text(text=_graphs(max(graphs, key=lambda record: record.count)), strong=True)
    holders = run.of(HolderRecord)
    if holders:
        yield Text(text=" ".join(CURE[keeper] for keeper in CURE if any(each.keeper == keeper for each in holders)))
        yield _holders(holders)


def _graphs(record: RetainedGraphRecord) -> str:
    number = f"{record.count} graph{' of an earlier step is' if record.count == 1 else 's of earlier steps are'} alive"
    holders = f", held by {', '.join(record.holders)}" if record.holders else ""
    size = f" ({as_bytes(record.num_bytes)} at least)" if record.num_bytes else ""
    return f"{number}, the oldest of step {record.oldest}{holders}{size}. Keep loss.item() or loss.detach() instead."


def _holders(records: Sequence[HolderRecord]) -> Table:
    rows = [
        (
            record.name,
            as_bytes(record.num_bytes),
            f"{as_shape(record.shape)} {record.dtype} on {record.device}",
            "yes" if record.has_graph else "no",
            record.also or "nothing else",
        )
        for record in records
    ]
    return Table(columns=("kept by", "memory", "tensor", "with graph", "also in"), rows=rows)


def _stack(use: MemoryUse) -> Plot:
    found = {name: (use.steps, values) for name, values in use.series.items() if any(values)}
    return _plot("memory of the model", found, stacked=True)


def _plot(title: str, found: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, stacked: bool = False) -> Plot:
    """Draw bytes in the unit that fits the highest of them."""
    scale, unit = byte_unit(max(max(values) for _, values in found.values()))
    lines = [
        Line(name=name, steps=steps, values=[value / scale for value in values])
        for name, (steps, values) in found.items()
    ]
    return Plot(title=f"{title}, {unit}", lines=lines, y_label=unit, stacked=stacked)


def _unseen(record: UnseenGraphRecord) -> str:
    if not record.complete:
        return "The graph was too large to be walked, so activations are not counted."
    return f"Out of sight in the graph, and not counted, is what these keep: {', '.join(record.nodes)}."
