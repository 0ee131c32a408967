"""Products of matrices and convolutions run in float32, although the hardware is faster with half the bits.

*Symptom*: most of the time goes into matrix products and convolutions, and the parameters are float32.

*Why it happens*: torch keeps to float32 unless one says otherwise. Newer accelerators, and some processors, multiply
``bfloat16`` and ``float16`` by instructions of their own.

*What to try*: ``with torch.autocast(device_type, dtype=torch.bfloat16):`` around forward and loss, not around the
backward. Weights stay float32, and what is delicate, such as losses and norms, does too.

*Source*: PyTorch documentation, "Automatic Mixed Precision package".
"""

from collections.abc import Iterator

from torchmagic.analyses.operator_kinds import CONVOLUTIONS, MATRIX_PRODUCTS
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.analyses.savings import gained_by_model, saved, saves
from torchmagic.analyses.verified import Tried, told, verified
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.precision import AutocastRecord, HalfWeightsRecord
from torchmagic.records.speed import ForwardRecord, HardwareRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time, what products and convolutions take; the rest gains little.
MIN_SHARE = 0.4
# How many times as fast products have to be, as measured: what surrounds them gains nothing.
MIN_SPEED = 1.5
CURE = "bfloat16"
# Words of somebody who has chosen the types; the second is in bfloat16 too.
CHOSEN = ("autocast", "float16", ".half()", "allow_tf32", "set_float32_matmul_precision")


@rule
def missing_mixed_precision(
    run: Run, *, min_share: float = MIN_SHARE, min_gain: float = LEAST_GAIN, min_speed: float = MIN_SPEED
) -> Iterator[Finding]:
    """Report a model in float32 whose time is mostly products, on hardware that has faster ones."""
    profile, hardware = profile_of(run), run.of(HardwareRecord)
    if profile is None or not hardware or not profile.trains or _is_chosen(run, profile):
        return
    seconds = profile.own(MATRIX_PRODUCTS | CONVOLUTIONS, ("forward", "backward"))
    model = next(iter(run.of(ForwardRecord)), None)
    if model is None or profile.share(seconds) < min_share:
        return
    tried = verified(run, CURE, model.model)
    gains = tried.gain - tried.spread >= min_gain if tried is not None else _is_faster(hardware[-1], min_speed)
    if gains:
        saving = gained_by_model(profile, tried, model.model)
        gain = f"; bfloat16 makes {model.model} {tried.factor}" if tried is not None else ""
        title = f"products in float32 take {profile.told(seconds)}{gain}{saved(profile, saving, cost=seconds)}"
        evidence = profile.evidence(seconds, min_share) | told(tried) | saves(profile, saving)
        yield _finding(model, hardware[-1], tried, title, evidence)


def _is_faster(hardware: HardwareRecord, min_speed: float) -> bool:
    """Whether half the bits are faster: an accelerator's word is enough, a processor has to have shown it."""
    measured = hardware.half_speed is not None and hardware.half_speed >= min_speed
    return bool(hardware.half) and (hardware.device == "cuda" or measured)


def _is_chosen(run: Run, profile: Profile) -> bool:
    """Whether not all is float32, or somebody thought about it, or nobody can tell."""
    types = {each.dtype for each in profile.costs.modules if each.dtype}
    seen = any(record.enabled for record in run.of(AutocastRecord)) or bool(run.of(HalfWeightsRecord))
    around = any(record.autocast for record in run.of(ForwardRecord))
    return types != {"float32"} or seen or around or profile.mentions(*CHOSEN)


def _finding(
    model: ForwardRecord, hardware: HardwareRecord, tried: Tried | None, title: str, evidence: dict[str, float | str]
) -> Finding:
    measured = "" if tried is not None else " How much that saves in this model was not measured."
    device = "accelerator" if hardware.device == "cuda" else "processor"
    faster = f", {hardware.half_speed:.1f}x as fast as float32 when it was tried" if hardware.half_speed else ""
    return Finding(
        rule="missing-mixed-precision",
        severity=Severity.INFO,
        confidence=0.9 if tried is not None else 0.6 if hardware.device == "cuda" else 0.5,
        title=title,
        module=model.model,
        **line_of(shown(model.place)),
        evidence=evidence | {"hardware": hardware.capability},
        why=f"The {device} multiplies {hardware.half or 'bfloat16'} by instructions of its own{faster}.{measured}",
        fix=f'with torch.autocast("{hardware.device}", dtype=torch.bfloat16):  # around forward and loss',
    )
