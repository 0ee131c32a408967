"""This file is a drawn picture as PNG in few colours, and small."""

import io

# With so many colours a picture looks the same and takes a third of the room in a notebook.
_NUM_COLOURS = 128


def of_few_colours(size: tuple[int, int], pixels: memoryview) -> bytes:
    """Return a picture as PNG bytes with a palette.

    Args:
        size: Width and height.
        pixels: Four bytes for each: red, green, blue, and how dense they are.
    """
    from PIL import Image  # noqa: PLC0415 - what matplotlib itself writes PNG with

    picture = Image.frombytes("RGBA", size, bytes(pixels))
    smaller = io.BytesIO()
    few = picture.quantize(_NUM_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(smaller, format="png")
    return smaller.getvalue()
