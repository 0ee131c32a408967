"""Two affine layers follow each other with nothing between, and work as one.

*Symptom*: a deeper model does no better than a shallow one; the loss stops where a linear model would.

*Why it happens*: a linear map of a linear map is a linear map. Without an activation between them the two layers can
express nothing that one could not.

*What to try*: put ``nn.ReLU()``, ``nn.GELU()`` or another activation between, or keep only one of the two. A narrow
middle, as in a low-rank layer, is left alone: there the two say less than one on purpose.

*Source*: Schoop et al., UMLAUT, CHI 2021; Nikanjam et al., NeuraLint, TOSEM 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.building_lines import place_building
from torchmagic.analyses.counting import few
from torchmagic.analyses.dropped_calls import lines_dropping_activations
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.structure import DirectFollowRecord
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run

# One forward may be a first try; from two on it is how the model works.
MIN_SEEN = 2


@rule
def missing_activation(run: Run, *, min_seen: int = MIN_SEEN) -> Iterator[Finding]:
    """Report, per model, the first two affine modules of which the second gets the first one's very output."""
    found = [
        record
        for record in run.of(DirectFollowRecord)
        if record.num_seen >= min_seen
        and record.is_plain
        and not record.of_library
        and record.num_middle >= min(record.num_in, record.num_out)
        and not _joins_networks(run, record)
    ]
    for model in dict.fromkeys(record.second.partition(".")[0] for record in found):
        first, *others = (record for record in found if record.second.partition(".")[0] == model)
        dropped = places_by(run, lines_dropping_activations)
        yield Finding(
            rule="missing-activation",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"{first.second} works on the bare output of {first.first}: no activation lies between them",
            module=first.second,
            **only_line(dropped, place_building(run, first.second)),
            step=0,
            evidence={
                "features": f"{first.num_in} to {first.num_middle} to {first.num_out}",
                "forwards": first.num_seen,
                "threshold": min_seen,
                "other such pairs": few([f"{each.first} and {each.second}" for each in others]) or "none",
            },
            why=f"{first.first_class} and {first.second_class} are both affine; one after the other is one affine map.",
            fix=f"nn.ReLU()  # between {first.first} and {first.second}"
            if len(dropped) != 1
            else f"x = {dropped[0].source}  # an activation changes nothing in place: take what it gives",
        )


def _joins_networks(run: Run, record: DirectFollowRecord) -> bool:
    """Whether the first is the end of a network of its own, whose output is features for another model."""
    models = {each.module: each.model for each in run.of(ParameterRecord)}
    first, second = models.get(record.first), models.get(record.second)
    if first == second or first is None:
        return False
    matrices = {each.module for each in run.of(ParameterRecord) if each.model == first and len(each.shape) > 1}
    return len(matrices) > 1
