"""This file is the words for an origin: the sentence with which the first non-finite value is warned of."""

from torchmagic.records.loop import BY_HAND
from torchmagic.records.nonfinite import Birth, NonfiniteRecord


def sentence(record: NonfiniteRecord) -> str:
    """Say in one line what broke, in which step, by what, and where."""
    made = f" by {record.op}" if record.op else ""
    who = "loop" if record.optimizer == BY_HAND else "optimizer"
    update = f"the {who}'s update made {record.parameter} non-finite{made}"
    if record.state is not None:
        update = f"{record.state} of {record.parameter} in {record.optimizer} was non-finite before the step"
    what = {
        Birth.INPUT: "the input holds non-finite values",
        Birth.FORWARD: f"{record.op or 'an operator'} made a non-finite value",
        Birth.GRADIENT: f"the gradient of {record.parameter or 'the loss'} is made non-finite{made}",
        Birth.PARAMETER: f"{record.parameter} is non-finite",
        Birth.BUFFER: f"the buffer {record.parameter} is non-finite",
        Birth.UPDATE: update,
    }[record.birth]
    when = f"step {record.step}" + (f", evaluation {record.evaluation}" if record.evaluation is not None else "")
    module = f" in {record.module}" if record.module else ""
    place = f" (line {record.place.line}: {record.place.source})" if record.place is not None else ""
    began = f", growing since step {record.began}" if record.began is not None else ""
    return f"{when}: {what}{module}: {record.cause}{began}{place}"
