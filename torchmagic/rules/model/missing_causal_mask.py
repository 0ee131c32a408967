"""What a model says of a place in a sequence depends on what comes after it, which is what it is to predict.

*Symptom*: the loss falls far below what is possible, nearly to 0, and what the model generates makes no sense.

*Why it happens*: the target at each place is the element that follows in the input. Attention without a causal mask, a
recurrent layer that also runs backwards, or a convolution that is padded on both sides sees it and copies it.

*What to try*: ``is_causal=True``, or a mask that hides later places, such as
``nn.Transformer.generate_square_subsequent_mask``; ``bidirectional=False``; padding on the left alone.

*Source*: Vaswani et al., "Attention is all you need", 2017, section 3.2.3; Karpathy, "A recipe for training neural
networks", 2019 (use backprop to chart dependencies).
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.structure import ForesightRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Changes of earlier places below this share of the changed place's own may be rounding.
MIN_CHANGE = 1e-3
_RECURRENT = ("RNN", "LSTM", "GRU")
MASK = "mask=nn.Transformer.generate_square_subsequent_mask(length), is_causal=True"


@rule
def missing_causal_mask(run: Run, *, min_change: float = MIN_CHANGE) -> Iterator[Finding]:
    """Report each model that is to predict the next element of its input, and sees it."""
    for record in run.of(ForesightRecord):
        if not record.num_changed or record.change < min_change:
            continue
        yield Finding(
            rule="missing-causal-mask",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{record.model} sees what it is to predict: what it says of earlier places depends on later ones",
            module=record.model,
            **line_of(record.place),
            step=record.step,
            evidence={
                "place that was changed": record.place_changed,
                "earlier places that changed": f"{record.num_changed} of {record.num_earlier}",
                "greatest change, beside that of the place itself": record.change,
                "threshold": min_change,
            },
            why="In evaluation mode the same sequence was run twice with only one element changed: what is said of the "
            "places before it should have stayed as it was, as it is compared with that very element.",
            fix=_fix(record.class_name),
        )


def _fix(class_name: str) -> str:
    if class_name in _RECURRENT:
        return "bidirectional=False"
    if class_name.startswith("Conv"):
        return "padding=0, and F.pad(x, (kernel_size - 1, 0)) before it"
    return MASK if class_name.startswith(("Transformer", "MultiheadAttention")) else "is_causal=True, or a mask of -inf"
