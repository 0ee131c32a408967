"""A batch given to the model holds NaN or infinity.

*Symptom*: the loss is NaN from some batch on, and every parameter soon after.

*Why it happens*: missing values in a table, a division by a zero deviation, a broken file.

*What to try*: look at the columns named, impute or drop the rows, and check once when the data are built:
``assert torch.isfinite(x).all()``.

*Source*: Humbatova et al., ICSE 2020 (quality of training data); Morovati et al., Defects4ML, 2023.
"""

from collections.abc import Iterator

from torchmagic.analyses.cures import cure_of
from torchmagic.analyses.data_lines import lines_dividing_by_spread
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, only_line, rule
from torchmagic.session.run import Run


@rule
def nonfinite_input(run: Run) -> Iterator[Finding]:
    """Report the first batch with a non-finite value."""
    for record in run.of(NonfiniteRecord):
        if record.birth is not Birth.INPUT:
            continue
        told = ((record.num_nan, "NaN"), (record.num_inf, "Inf"))
        counts = ", ".join(f"{number:,} {name}" for number, name in told if number)
        made = f", made by {record.op.strip('_')}" if record.op else ""
        seen = f", evaluation {record.evaluation}," if record.evaluation is not None else ""
        yield Finding(
            rule="nonfinite-input",
            severity=Severity.ERROR,
            confidence=0.99,
            title=f"the batch at step {record.step}{seen} has {counts} ({record.where}){made}",
            module=record.model,
            **(line_of(record.place) if record.op else only_line(_scaling(run, record), record.place)),
            step=record.step,
            evidence={
                "NaN": record.num_nan,
                "Inf": record.num_inf,
                "values": record.num_elements,
                "where": record.where,
                "rows": ", ".join(map(str, record.rows)) or "not known",
                **({"operator": record.op, "given": record.operands, "cause": record.cause.value} if record.op else {}),
            },
            why="The data are not finite before the model touches them; everything computed from them is lost."
            + (f" What they are computed from was finite: {record.op.strip('_')} made them so." if record.op else ""),
            fix=_fix(record),
        )


def _scaling(run: Run, record: NonfiniteRecord) -> list[Place]:
    """Return the lines that divide by a spread, where whole columns or samples are lost."""
    if not (record.empty_columns or record.empty_rows):
        return []
    return places_by(run, lines_dividing_by_spread)


def _fix(record: NonfiniteRecord) -> str:
    if record.empty_columns:
        return (
            "x = (x - x.mean(0)) / x.std(0).clamp_min(1e-8)  # no row of these columns is finite: a column that never "
            "changes has a std of 0; else leave the column out"
        )
    if record.empty_rows:
        return (
            "x = x / x.std().clamp_min(1e-8)  # no value of these samples is finite: one that is constant has no spread"
        )
    if record.op and (cure := cure_of(record, "")):
        return cure
    if record.num_inf:
        return "drop or mend these rows where the data are built: a log or a division of 0, a number too large"
    return "x = torch.nan_to_num(x)  # or impute, or drop these rows, where the data are built"
