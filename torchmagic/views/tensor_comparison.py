"""This file is the part of a tensor's page that compares it with another one."""

from collections.abc import Iterator

from torchmagic.records.tensor_relations import Comparison
from torchmagic.views.numbers import as_number, as_share
from torchmagic.views.page import Block, Facts, Text


def comparison_blocks(found: Comparison) -> Iterator[Block]:
    """Yield the verdict as a sentence, then the numbers."""
    yield Text(text=_verdict(found), strong=not found.is_close)
    if found.num_different:
        yield Facts(rows=tuple(_rows(found)))


def _verdict(found: Comparison) -> str:
    if not found.num_different:
        return f"Equal to {found.other}, every one of {found.num_values:,}."
    tolerances = f"rtol {found.rtol:g}, atol {found.atol:g}"
    if found.is_close:
        return f"Close to {found.other}: all {found.num_values:,} within {tolerances}."
    share = as_share(found.num_outside / found.num_values)
    return f"Not close to {found.other}: {found.num_outside:,} of {found.num_values:,} ({share}) outside {tolerances}."


def _rows(found: Comparison) -> Iterator[tuple[str, str]]:
    yield "different", f"{found.num_different:,} ({as_share(found.num_different / found.num_values)})"
    if found.max_abs is not None:
        one, other = (_exact(value) for value in found.max_abs_values)
        at = f" at {list(found.max_abs_at)}: {one} and {other}" if found.max_abs_at else ""
        yield "largest difference", f"{as_number(found.max_abs)}{at}"
    if found.max_rel is not None:
        at = f" at {list(found.max_rel_at)}" if found.max_rel_at else ""
        yield "largest relative one", f"{as_number(found.max_rel)} of the other's magnitude{at}"
    if found.max_ulp is not None:
        yield "most steps apart (ULP)", f"{found.max_ulp:,} representable numbers"
    if found.num_one_sided:
        yield "not finite alike", f"{found.num_one_sided:,} are NaN or infinite in one, or differently"


def _exact(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"
