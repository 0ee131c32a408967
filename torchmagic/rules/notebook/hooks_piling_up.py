"""The same hook is registered several times in the same place.

*Symptom*: each forward gets slower from run to run of a cell; lists that a hook fills hold every value twice or more.

*Why it happens*: ``register_forward_hook`` adds to the hooks that are there. A cell that registers one and is run again
adds it again, and nothing removes the first.

*What to try*: keep the handle and call ``handle.remove()`` when done, for instance in ``try: ... finally:``, or
register where the model is built.

*Source*: PyTorch documentation of ``Module.register_forward_hook``; wandb issue 1594 and others of its kind.
"""

from collections.abc import Iterator

from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.notebook import RepeatedHookRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Once is meant; the same code in the same place a second time does the same again.
MIN_COUNT = 2


@rule
def hooks_piling_up(run: Run, *, min_count: int = MIN_COUNT) -> Iterator[Finding]:
    """Report, per hook, where it hangs more than once."""
    records = [record for record in run.of(RepeatedHookRecord) if record.count >= min_count]
    for hook in dict.fromkeys(record.hook for record in records):
        here = [record for record in records if record.hook == hook]
        most = max(here, key=lambda record: record.count)
        places = f"{most.subject} and {len(here) - 1} more" if len(here) > 1 else most.subject
        yield Finding(
            rule="hooks-piling-up",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"the hook {hook.rpartition('.')[2]} is registered {most.count} times on {places}",
            module=most.subject,
            **_place(run, most.how),
            evidence={
                "registered": most.count,
                "when the cell began": most.at_start,
                "places": len(here),
                "threshold": min_count,
            },
            why="Registering adds to the hooks that are there already; each of them runs at every call.",
            fix=f"handle = ….{most.how}(…) once, and handle.remove() before it is registered again",
        )


def _place(run: Run, kind: str) -> Located:
    return line_of(next(iter(places_by(run, lambda text: lines_calling(text, (kind,)))), None))
