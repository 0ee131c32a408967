"""A module uses layers or tensors that it holds in a plain list, dict or attribute.

*Symptom*: ``parameters()`` is shorter than it should be; these layers are not trained, not saved and not moved to the
GPU.

*Why it happens*: a module registers a ``Module`` or ``Parameter`` only where it is assigned to an attribute itself.
What stands in a Python list or dict, or is a plain tensor with ``requires_grad=True``, is not seen; nor is what only a
function keeps, such as a closure in an attribute, or what ``forward`` takes from the code around its class.

*What to try*: ``nn.ModuleList``, ``nn.ModuleDict`` or ``nn.Sequential`` for layers; ``nn.Parameter``,
``nn.ParameterList`` or ``nn.ParameterDict`` for tensors.

*Source*: PyTorch documentation of ``ModuleList``; PyTorch issues 715 and 1053.
"""

from collections.abc import Iterator

from torchmagic.analyses.source_calls import adds_lists
from torchmagic.analyses.texts import texts_of
from torchmagic.records.connection import UnregisteredRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Steps of the run: after one, an optimizer that holds them may still be to come.
MIN_STEPS = 2
# What torch says when a model has nothing registered at all.
NOTHING_TO_TRAIN = "empty parameter list"
_REGISTERED = {"dict": "ModuleDict", "OrderedDict": "ModuleDict", "defaultdict": "ModuleDict"}
_TENSORS = ("Tensor", "Parameter")


@rule
def unregistered_parameter(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each attribute whose tensors are used and reached by a loss, and that nobody registered or trains."""
    nothing = any(NOTHING_TO_TRAIN in crash.message for crash in run.of(CrashRecord))
    for record in run.of(UnregisteredRecord):
        missing = record.num_parameters - record.owned - record.registered
        seen = record.looks and run.steps >= min_steps
        if missing <= 0 or record.changed or not (seen or (nothing and not record.looks)):
            continue
        yield Finding(
            rule="unregistered-parameter",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"{record.num_parameters} trainable tensors {_where(record)} are not registered",
            module=f"{record.module}.{record.attribute}" if record.attribute else record.module,
            **line_of(record.place),
            evidence={
                "tensors": record.num_parameters,
                "held in": f"{record.container} of {record.class_name}",
                "backward passes that reached them": record.looks,
            },
            why="They are not among parameters(): no optimizer that was given parameters() trains them, and "
            "state_dict() and to() leave them out.",
            fix=_fix(record, nested=any(adds_lists(text, record.attribute) for text in texts_of(run))),
        )


def _where(record: UnregisteredRecord) -> str:
    if not record.attribute:
        return f"in {record.variable}, which the forward of {record.module} takes from around it,"
    kept = f", kept by a function as {record.variable}," if record.variable else ""
    return f"in {record.module}.{record.attribute}{kept}"


def _fix(record: UnregisteredRecord, *, nested: bool) -> str:
    if record.variable:
        return _fix_of_variable(record)
    if record.class_name in _TENSORS:
        if record.container in _TENSORS:
            return f"self.{record.attribute} = nn.Parameter(...)"
        kind = "ParameterDict" if record.container in _REGISTERED else "ParameterList"
        return f"self.{record.attribute} = nn.{kind}(...)"
    if nested and record.container not in _REGISTERED:
        return (
            f"self.{record.attribute} = nn.ModuleList(); self.{record.attribute}.append(nn.ModuleList([...]))"
            "  # a list in it is not seen either"
        )
    return f"self.{record.attribute} = nn.{_REGISTERED.get(record.container, 'ModuleList')}(...)"


def _fix_of_variable(record: UnregisteredRecord) -> str:
    """Return the line that registers what a function keeps, which may go on using it."""
    given = "..." if record.attribute else record.variable
    if record.container == record.class_name:
        value = f"nn.Parameter({given})" if record.class_name in _TENSORS else given
    elif record.class_name in _TENSORS:
        value = f"nn.{'ParameterDict' if record.container in _REGISTERED else 'ParameterList'}({given})"
    else:
        value = f"nn.{_REGISTERED.get(record.container, 'ModuleList')}({given})"
    keeper = f"self.{record.attribute}" if record.attribute else "forward"
    return f"self.{record.variable} = {value}  # in __init__; {keeper} has to use what is registered"
