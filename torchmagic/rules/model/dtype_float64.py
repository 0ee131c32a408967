"""The model and its batches are of type float64, which training seldom needs.

*Symptom*: training takes twice the memory and, on an accelerator, many times as long as it could.

*Why it happens*: numpy makes float64 arrays. ``torch.from_numpy`` and ``torch.tensor`` keep the type, and to get rid of
the error that follows, ``model.double()`` is called.

*What to try*: convert the data instead: ``torch.from_numpy(x).float()`` or ``dtype=torch.float32``, and leave the model
as it is.

*Source*: PyTorch documentation, "Numerical accuracy"; NVIDIA data sheets (float64 runs at 1/2 to 1/64 of the speed).
"""

from collections.abc import Iterator

from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by, says
from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import OptimizerRecord, ParameterRecord
from torchmagic.records.notebook import GlobalModesRecord
from torchmagic.records.profile import ProfileRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

FLOAT64 = "float64"
# With fewer steps it is a calculation, not training.
MIN_STEPS = 3
# Code that takes second derivatives, or says that it wants float64, has its reasons.
INTENT = ("set_default_dtype", "create_graph", "gradcheck", "hessian", "jacobian", "hvp", "jacrev", "jacfwd")


@rule
def dtype_float64(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each model in float64 by accident, batches included; ``double-precision`` tells that of a profile."""
    if run.of(ProfileRecord):
        return
    chosen = any("torch.set_default_dtype" in record.changed for record in run.of(GlobalModesRecord))
    second_order = any(record.class_name == "LBFGS" for record in run.of(OptimizerRecord))
    if run.steps < min_steps or chosen or second_order or says(run, _tells_intent):
        return
    trained = {name for record in run.of(OptimizerRecord) for name in record.parameters}
    for model in dict.fromkeys(record.model for record in run.of(ParameterRecord)):
        owned = [record for record in run.of(ParameterRecord) if record.model == model and record.name in trained]
        given = [record for record in run.of(BatchRecord) if record.source is Source.MODEL and record.name == model]
        floats = [record for record in given if record.dtype.startswith(("float", "bfloat"))]
        if owned and floats and {record.dtype for record in owned} | {record.dtype for record in floats} == {FLOAT64}:
            yield _finding(run, model, len(owned))


def _tells_intent(text: str) -> bool:
    return any(word in text for word in INTENT)


def _finding(run: Run, model: str, num_parameters: int) -> Finding:
    doubled = places_by(run, lambda text: lines_calling(text, ("double",)))
    return Finding(
        rule="dtype-float64",
        severity=Severity.INFO,
        confidence=0.8,
        title=f"{model} trains in float64",
        module=model,
        **line_of(next(iter(doubled), None)),
        step=0,
        evidence={"parameters of this type": num_parameters, "threshold": "all of them, and the batches"},
        why="Twice the memory and less speed, for digits that the noise of training covers.",
        fix=f"{model}.float(), and x.float() for the batches",
    )
