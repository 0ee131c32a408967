"""This file is the view of a run's evaluations: their losses as curves, the best of them, and each pass."""

from collections.abc import Iterator
from itertools import compress

from torchmagic.analyses.counting import counted
from torchmagic.analyses.early_stopping import EvaluationCurve, early_stopping
from torchmagic.records.evaluation import EvaluationRecord, StoppingRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number, as_share
from torchmagic.views.page import Block, Facts, Fold, Line, Table

# A name for curves that tells them from those that were trained on.
PREFIX = "evaluation: "
HOLDS = {
    True: "the weights at the end are the best ones",
    False: "the weights at the end are not the best ones",
}


def evaluation_lines(run: Run) -> list[Line]:
    """Return the loss of each kind of evaluation over optimizer steps."""
    found = [(name, *run.series("eval_loss", name=name)) for name in run.subjects("eval_loss")]
    return [Line(name=f"{PREFIX}{name}", steps=steps, values=values) for name, steps, values in found]


def evaluation_blocks(run: Run) -> list[Block]:
    """Return the best of each evaluation, and, folded, the passes one by one; nothing where nothing was evaluated."""
    blocks: list[Block] = []
    stops = {record.subject: record for record in run.of(StoppingRecord)}
    facts = [
        (f"{PREFIX}{curve.subject}", "; ".join(_told(curve, stops.get(curve.subject)))) for curve in early_stopping(run)
    ]
    if facts:
        blocks.append(Facts(rows=facts))
    passes = run.of(EvaluationRecord)
    if passes:
        blocks.append(Fold(title="Evaluation passes", blocks=[_passes(run)]))
    return blocks


def _told(curve: EvaluationCurve, stop: StoppingRecord | None) -> Iterator[str]:
    if curve.since:
        yield f"of the last training, from step {curve.since} on"
    if curve.num_passes == 1:
        yield f"{as_number(curve.last)} in a single pass, after {counted(curve.best_step, 'step')}"
        return
    number = f"pass {curve.best_pass + 1} of {curve.num_passes}"
    yield f"best {as_number(curve.best)} after {counted(curve.best_step, 'step')} ({number})"
    if curve.since_best:
        passes = "pass" if curve.since_best == 1 else "passes"
        yield f"{curve.since_best} {passes} since, the last {as_share(curve.rise)} above it"
        if stop is not None and stop.holds_best is not None and stop.best_step >= curve.since:
            yield HOLDS[stop.holds_best]
    for patience, step in sorted(curve.would_stop.items())[:1]:
        yield f"a patience of {patience} would have stopped after {counted(step, 'step')}"
    if curve.comparable and curve.gap_at_best is not None and curve.gap_at_last is not None:
        later = f", {_gap(curve.gap_at_last)} at the last" if curve.since_best else ""
        yield f"{_gap(curve.gap_at_best)} the training loss at the best{later}"


def _gap(gap: float) -> str:
    return f"{as_number(abs(gap))} {'above' if gap >= 0 else 'below'}"


def _passes(run: Run) -> Table:
    rows = [
        (
            record.step,
            record.model,
            record.loader,
            record.num_batches,
            "training" if record.training else "evaluation",
            "on" if record.grad_enabled else "off",
            ", ".join(record.loss_names),
            f"line {record.place.line}" if record.place else "",
        )
        for record in run.of(EvaluationRecord)
    ]
    columns = ("after step", "model", "loader", "batches", "mode", "gradients", "losses", "where")
    told = [any(row[i] != "" for row in rows) for i in range(len(columns))]
    return Table(columns=tuple(compress(columns, told)), rows=[tuple(compress(row, told)) for row in rows])
