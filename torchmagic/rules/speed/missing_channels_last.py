"""Convolutions work on another memory format than the one that is fastest here.

*Symptom*: convolutions are most of the time, and some of it goes into bringing their values into another order.

*Why it happens*: images are kept channel after channel unless one says otherwise, while the fast kernels want all
channels of a pixel side by side.

*What to try*: ``model = model.to(memory_format=torch.channels_last)``, and the same for the batches. The values are the
same, only their order in memory is another.

*Source*: PyTorch tutorial, "Channels Last Memory Format in PyTorch".
"""

from collections.abc import Iterator

from torchmagic.analyses.operator_kinds import CONVOLUTIONS
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.analyses.savings import gained_by_model, saved, saves
from torchmagic.analyses.verified import told, verified
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import ForwardRecord, HardwareRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time, what convolutions take.
MIN_SHARE = 0.2
CURE = "channels_last"


@rule
def missing_channels_last(run: Run, *, min_share: float = MIN_SHARE, min_gain: float = LEAST_GAIN) -> Iterator[Finding]:
    """Report each model whose convolutions would gain: as tried here, or on an accelerator with half values."""
    profile = profile_of(run)
    if profile is None:
        return
    for record in run.of(ForwardRecord):
        seconds = profile.own(CONVOLUTIONS, ("forward", "backward"))
        plain = record.convolutions and not record.channels_last and not record.input_channels_last
        if not plain or profile.share(seconds) < min_share:
            continue
        tried = verified(run, CURE, record.model)
        gains = tried.gain - tried.spread >= min_gain if tried is not None else _is_known_to_pay(run, record, profile)
        if gains:
            saving = gained_by_model(profile, tried, record.model)
            yield Finding(
                rule="missing-channels-last",
                severity=Severity.INFO,
                confidence=0.9 if tried is not None else 0.6,
                title=f"{record.convolutions} convolutions of {record.model} take {profile.told(seconds)}"
                + (f"; channels_last makes the model {tried.factor}" if tried is not None else "")
                + saved(profile, saving, cost=seconds),
                module=record.model,
                **line_of(shown(record.place)),
                evidence=profile.evidence(seconds, min_share) | told(tried) | saves(profile, saving),
                why="Their fast kernels want all channels of a pixel side by side, and bring them there first.",
                fix=f"{record.model} = {record.model}.to(memory_format=torch.channels_last)  # and the batches",
            )


def _is_known_to_pay(run: Run, record: ForwardRecord, profile: Profile) -> bool:
    """Whether the accelerator multiplies half values, which it does in that format only."""
    hardware = run.of(HardwareRecord)
    half = record.autocast or any(each.dtype in ("float16", "bfloat16") for each in profile.costs.modules)
    return bool(hardware) and hardware[-1].device == "cuda" and bool(hardware[-1].half) and half
