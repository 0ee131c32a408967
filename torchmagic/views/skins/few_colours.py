"""This file is a PNG picture again, in few colours and small."""

import io

# With so many colours a picture looks the same and takes a third of the room in a notebook.
_NUM_COLOURS = 128


def of_few_colours(png: io.BytesIO) -> bytes:
    """Return a picture as PNG bytes with a palette.

    Args:
        png: The picture, with any number of colours.
    """
    from PIL import Image  # noqa: PLC0415 - what matplotlib itself writes PNG with

    smaller = io.BytesIO()
    with Image.open(png) as picture:
        few = picture.convert("RGBA").quantize(_NUM_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(smaller, format="png", optimize=True)
    return smaller.getvalue()
