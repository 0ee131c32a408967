"""This file is the tools of the MCP server: each answers one question about the runs."""

from difflib import get_close_matches
from typing import Annotated

from pydantic import Field

from torchmagic.rules.catalogue import RULES
from torchmagic.rules.names import explanation
from torchmagic.server.answers import Answer, FindingList, Series
from torchmagic.server.missing import MissingError
from torchmagic.server.plain import Number, Text
from torchmagic.server.reading import Reader
from torchmagic.server.said import findings_of, series
from torchmagic.session.history import Entry
from torchmagic.session.run import Run
from torchmagic.session.status import Status
from torchmagic.views.brief import run_text
from torchmagic.views.comparison import comparison_page
from torchmagic.views.skins.text import as_text

MOST_RUNS, MOST_POINTS, MOST_COMPARED = 200, 500, 6
Which = Annotated[str, Field(description="Number (negative ones count from the end), id or name of a run, or 'last'.")]


class RunSummary(Answer):
    """One stored run."""

    number: int
    id: Text
    name: Text = Field(description="Its name, or else the first line of its source that is code.")
    status: Status
    started: Number = Field(description="Seconds since the epoch.")
    seconds: Number = Field(description="Wall time.")
    steps: int = Field(description="Optimizer steps.")
    errors: int
    warnings: int
    infos: int
    last_loss: Number | None
    note: Text
    tags: list[Text]


class Runs(Answer):
    """Runs, the newest first."""

    total: int = Field(description="Runs that there are.")
    runs: list[RunSummary]


class Tools:
    """Answers questions.

    Args:
        reader: Finds the runs.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def list_runs(
        self,
        limit: Annotated[int, Field(ge=1, le=MOST_RUNS, description="Most runs to list.")] = 20,
    ) -> Runs:
        """List the stored training runs, the newest first: how each ended, and how many findings it has."""
        entries = self._reader.entries()
        return Runs(total=len(entries), runs=[_summary(entry) for entry in reversed(entries[-limit:])])

    def show_run(
        self,
        run: Which = "last",
        full: Annotated[bool, Field(description="Tell every table and curve, at some thousand tokens.")] = False,  # noqa: FBT002 - named by the protocol
    ) -> str:
        """Tell a run in a few hundred tokens: findings with their fixes, model, losses, gradients, time and memory."""
        return run_text(self._run(run), full=full)

    def findings(
        self,
        run: Which = "last",
        rule: Annotated[str, Field(description="Only of this rule; empty for all.")] = "",
    ) -> FindingList:
        """List what is wrong in a run with rule, severity, place, evidence, cause and fix, the most severe first."""
        found = findings_of(self._run(run))
        if rule:
            _check(rule)
            found.findings = [each for each in found.findings if each.rule == rule]
        return found

    def series(
        self,
        metric: Annotated[str, Field(description="Such as loss, grad_norm, lr or update_ratio.")],
        run: Which = "last",
        subject: Annotated[str, Field(description="A parameter, module or loss; empty for the whole run.")] = "",
        points: Annotated[int, Field(ge=5, le=MOST_POINTS, description="Most points.")] = 50,
    ) -> Series:
        """Return steps and values of a metric, thinned evenly with its ends, extremes and first value not finite."""
        return series(self._run(run), metric, subject, points)

    def compare_runs(
        self,
        runs: Annotated[
            list[str],
            Field(min_length=2, max_length=MOST_COMPARED, description="Runs; the first is compared with the others."),
        ],
    ) -> str:
        """Tell what differs between runs: result, losses, settings, source, findings and parameters."""
        found = [self._run(which) for which in runs]
        if len({run.id for run in found}) < len(found):
            raise MissingError("a comparison wants different runs, such as ['1', '2']")
        return as_text(comparison_page(found))

    def explain_rule(
        self,
        rule: Annotated[str, Field(description="Id of the rule; empty lists all of them.")] = "",
    ) -> str:
        """Explain a rule: the symptom, why it happens, what to try, its source, and its thresholds."""
        if rule:
            _check(rule)
        return explanation(rule)

    def _run(self, which: str) -> Run:
        return self._reader.run(which)


def _check(rule: str) -> None:
    known = [each.id for each in RULES]
    if rule not in known:
        nearest = get_close_matches(rule, known, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else "explain_rule without a rule lists all"
        raise MissingError(f"there is no rule {rule!r}; {hint}")


def _summary(entry: Entry) -> RunSummary:
    return RunSummary.model_validate(
        {name: getattr(entry, name) for name in RunSummary.model_fields if hasattr(entry, name)}
        | {"name": entry.heading or entry.name, "last_loss": entry.loss[-1] if entry.loss else None}
    )
