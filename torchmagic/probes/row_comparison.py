"""This file compares runs of a few rows, as they are and with one changed: which module let it reach others."""

import linecache
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import nn

from torchmagic.analyses.mixing_lines import MIXING
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.origin_purity import function_of
from torchmagic.probes.replay_wrappers import watch_modules
from torchmagic.probes.sites import Site, here, is_users_file
from torchmagic.probes.undisturbed import undisturbed
from torchmagic.session.interrupts import pass_on
from torchmagic.tensors import accelerators
from torchmagic.tensors.glance import tensors_in

# Another row has changed when it moved by this share of the outputs' size, and of the changed row's own move.
MIN_CHANGE, MIN_SHARE = 1e-4, 1e-3

Keep = Callable[[torch.Tensor], torch.Tensor]
Found = TypeVar("Found")


class Mixed(NamedTuple):
    """Which module mixed first, by how much, and at which line."""

    module: nn.Module
    num_rows: int
    num_changed: int
    change: float
    site: Site | None


def mixed_rows(module: nn.Module, rows: list[torch.Tensor]) -> Mixed | None:
    """Run a few rows, and again with the first one changed, then with the last; None where the others stay as they are.

    Where rows are cut up, what the first one reaches may be forgotten at the end, and what the last one reaches is not.
    """
    return tried(partial(_mixed, module, rows))


def tried(look: Callable[[], Found | None]) -> Found | None:
    """Return what a look at other runs of a model finds; None where its code was not made for such inputs."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - it is the user's code that raised; then nothing can be said
        pass_on(error)
        return None


def _mixed(module: nn.Module, rows: list[torch.Tensor]) -> Mixed | None:
    number = rows[0].shape[0]
    trials = {own: changed for own in (0, number - 1) if (changed := with_another(rows, own)) is not None}
    with closing(runs_of(module, [rows, *trials.values()] if trials else [], keep=torch.clone)) as runs:
        if (plain := next(runs, None)) is None:
            return None
        for own, run in zip(trials, runs, strict=False):
            if found := _compared(module, plain, run, own, number):
                return found
    return None


def runs_of(module: nn.Module, inputs: Sequence[list[torch.Tensor]], *, keep: Keep) -> "Generator[Run, None, None]":
    """Run a module in evaluation mode on one input after another, with the same random numbers.

    Args:
        module: Stays as it is, once the generator is closed.
        inputs: What it is given, one after the other.
        keep: Returns what is kept of each tensor that a module was given or gave.

    Yields:
        One run each.
    """
    with undisturbed(modules_of(module)):
        for part in modules_of(module):
            part.training = False
        state, devices = torch.get_rng_state(), accelerators.streams()
        for each in inputs:
            torch.set_rng_state(state)
            accelerators.put_back(devices)
            yield _run(module, each, keep)


def with_another(rows: list[torch.Tensor], own: int) -> list[torch.Tensor] | None:
    """Return the rows with another one in the place of one; None where all are the same."""
    numbers = range(rows[0].shape[0])
    other = next((i for i in numbers if not all(torch.equal(each[i], each[own]) for each in rows)), None)
    if other is None:
        return None
    changed = [tensor.clone() for tensor in rows]
    for tensor in changed:
        tensor[own] = tensor[other]
    return changed


class Pass(NamedTuple):
    """One call of a module: the user's line, what it was given, and what it gave."""

    module: nn.Module
    site: Site | None
    given: list[torch.Tensor]
    made: list[torch.Tensor]


class Run(NamedTuple):
    """What a module gave, and the calls of all modules in it in the order in which they ended."""

    output: torch.Tensor
    passes: list[Pass]


def _run(module: nn.Module, rows: list[torch.Tensor], keep: Keep) -> Run:
    trace: list[Pass] = []

    def seen(part: nn.Module, args: Any) -> Any:
        site, given = here(), [keep(each) for each in tensors_in(args)]

        def done(output: Any) -> None:
            trace.append(Pass(part, site, given, [keep(each) for each in tensors_in(output)[:1]]))

        return done

    with watch_modules(seen):
        output = module(*rows)
    return Run(output, trace)


def _compared(
    module: nn.Module,
    plain: Run,
    changed: Run,
    own: int,
    number: int,
) -> Mixed | None:
    moved = (plain.output - changed.output).abs().reshape(number, -1).amax(1).tolist()
    size = float(plain.output.abs().amax())
    limit = max(MIN_CHANGE * size, MIN_SHARE * moved[own])
    others = [each for i, each in enumerate(moved) if i != own and each > limit]
    if not others:
        return None
    share = max(others) / max(moved[own], limit)
    reached: Site | None = None  # where rows that were already mixed were first handed to a module
    for one, two in zip(plain.passes, changed.passes, strict=True):
        if _is_mixed(one.given, two.given, own, number):
            reached = reached or one.site
        elif _is_mixed(one.made, two.made, own, number):
            site = _line_that_mixes(reached) if reached is not None else line_inside(one.module, MIXING) or one.site
            return Mixed(one.module, number, len(others), share, site)
    return Mixed(module, number, len(others), share, reached)


def _line_that_mixes(site: Site) -> Site:
    """Return the last line, up to this one in its function, that changes the order of dimensions or joins over one."""
    for line in range(site.line, site.code.co_firstlineno, -1):
        if MIXING.search(linecache.getline(site.code.co_filename, line)):
            return Site(site.code, line)
    return site


def line_inside(module: nn.Module, pattern: re.Pattern[str]) -> Site | None:
    """Return the first line of a module's own forward that a pattern is found in; None for one of torch's."""
    function = function_of(module.forward)
    if function is None or not is_users_file(function.__code__.co_filename):
        return None
    code = function.__code__
    lines = sorted({line for *_, line in code.co_lines() if line is not None and line > code.co_firstlineno})
    found = (line for line in lines if pattern.search(linecache.getline(code.co_filename, line)))
    return next((Site(code, line) for line in found), None)


def _is_mixed(before: list[torch.Tensor], after: list[torch.Tensor], own: int, number: int) -> bool:
    """Whether the difference of two tensors is not that of one row, wherever the rows lie."""
    for one, two in zip(before, after, strict=True):
        if one.shape != two.shape or not one.dim() or not one.numel():
            continue
        apart = one != two
        dims = [dim for dim in range(one.dim()) if one.shape[dim] == number]
        if not dims and one.shape[0] % number == 0:  # samples and places together, either first
            rest = one.shape[0] // number
            apart, dims = apart.reshape(number, rest, -1), [0]
            if _others_differ(apart, 0, own) and not _others_differ(apart.reshape(rest, number, -1), 1, own):
                continue
        if dims and all(_others_differ(apart, dim, own) for dim in dims):
            return True
    return False


def _others_differ(apart: torch.Tensor, dim: int, own: int) -> bool:
    differing = apart.movedim(dim, 0).reshape(apart.shape[dim], -1).any(1)
    differing[own] = False
    return bool(differing.any())
