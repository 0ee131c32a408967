"""A convolution is given images whose channels come last.

*Symptom*: the model trains, slowly and badly; its first layer has as many input channels as the image has rows.

*Why it happens*: NumPy, PIL and TensorFlow keep images as height, width, channels; ``Conv2d`` takes channels first.

*What to try*: ``x = x.permute(0, 3, 1, 2)``, and as many ``in_channels`` as the images have colours.

*Source*: PyTorch documentation, ``torch.nn.Conv2d``; Schoop et al., UMLAUT, CHI 2021 (image dimensions).
"""

from collections.abc import Iterator

from torchmagic.records.feeding import FirstLayerRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# What the last dimension of an image with its channels last is: grey, colours, colours and transparency.
CHANNELS = (1, 3, 4)
# Images are larger than this.
MIN_SIDE = 8
DIMS = 4


@rule
def image_layout(run: Run, *, min_side: int = MIN_SIDE) -> Iterator[Finding]:
    """Report each first convolution that is given square images with their channels last."""
    for record in {each.module: each for each in run.of(FirstLayerRecord)}.values():
        if not record.class_name.startswith("Conv") or len(record.shape) != DIMS:
            continue
        _, first, second, last = record.shape
        if first != second or first < min_side or last not in CHANNELS:
            continue
        yield Finding(
            rule="image-layout",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"{record.module} takes the {first} rows of the images for channels: they come as {record.shape}",
            module=record.module,
            **line_of(record.place),
            step=record.step,
            evidence={"given": str(record.shape), "wanted": f"({record.shape[0]}, {last}, {first}, {second})"},
            why="Conv2d reads the second dimension as channels; these images have theirs at the end.",
            fix=f"x = x.permute(0, 3, 1, 2)  # and nn.Conv2d({last}, ...)",
        )
