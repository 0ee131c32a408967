"""This file tests what is seen of copies between host and device, on ``meta`` and on a device of the test's own."""

import gc
import weakref

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_map

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.move_wrappers import MOVES
from torchmagic.profiling import copy_facts
from torchmagic.profiling.copy_facts import Copies
from torchmagic.records.note import FailureRecord
from torchmagic.records.speed import RepeatedCopyRecord
from torchmagic.session.session import Session

NATIVE = [getattr(torch.Tensor, name) for name in MOVES]


class Far(torch.Tensor):
    """A tensor that says that it is on an accelerator; its values are on the host."""

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device="cuda:0")
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        wanted = (kwargs or {}).get("device")
        args, kwargs = tree_map(lambda each: each.held if isinstance(each, Far) else each, (args, dict(kwargs or {})))
        output = func(*args, **kwargs)
        if wanted is not None and torch.device(wanted).type == "cpu":
            return output.clone()
        return tree_map(lambda each: Far(each) if isinstance(each, torch.Tensor) else each, output)


def watched(body, *, steps=6):
    """Run ``body(step)`` in each step of a training, or once where there are none; what was recorded."""
    net = nn.Linear(2, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = Watch(Settings(save=False, only=("performance",)), namespace={}, session=Session(), beside=(Copies(),))
    run = watching.start()
    try:
        for step in range(max(steps, 1)):
            body(step)
            if steps:
                net(torch.ones(3, 2)).sum().backward()
                opt.step()
    finally:
        watching.stop()
    assert not run.of(FailureRecord)
    assert [getattr(torch.Tensor, name) for name in MOVES] == NATIVE
    return run.of(RepeatedCopyRecord)


def test_a_tensor_that_never_changes_and_is_taken_along_each_time_is_told_with_its_line():
    mask = torch.ones(4, 5)
    (found,) = watched(lambda _: mask.to("meta"))
    assert (found.device, found.back, found.shape) == ("meta", False, (4, 5))
    assert (found.steps, found.copies, found.repeats, found.num_bytes) == (4, 4, 4, 4 * 80)  # steps 1 to 4
    assert 0 < found.seconds < 0.1
    assert 'mask.to("meta")' in found.place.source


def test_a_view_of_it_is_the_same_and_another_view_is_not():
    rows = torch.ones(8, 5)
    assert watched(lambda _: rows[2:4].to("meta"))[0].repeats == 4
    assert not watched(lambda step: rows[step : step + 2].to("meta"))


@pytest.mark.parametrize(
    "change",
    [
        lambda mask, _: mask.mul_(2),
        lambda mask, _: mask[0].zero_(),
        lambda mask, step: mask.numpy().fill(step),  # torch counts no change
        lambda mask, step: mask.data.fill_(step),  # nor here
    ],
    ids=["in place", "through a view", "through numpy", "through data"],
)
def test_what_changed_meanwhile_is_no_repetition(change):
    mask = torch.ones(4, 5)

    def step(number):
        change(mask, number)
        mask.to("meta")

    assert not watched(step)


def test_new_batches_are_no_repetition_even_where_the_old_ones_stood():
    assert not watched(lambda _: torch.ones(4, 5).to("meta"))


def test_what_stays_on_its_device_is_no_copy():
    mask = torch.ones(4, 5)
    assert not watched(lambda _: (mask.to("cpu"), mask.to(torch.float64), mask.cpu(), mask.sum().item()))


def test_what_does_not_change_under_inference_is_told_too():
    with torch.inference_mode():
        mask = torch.ones(4, 5)
    assert watched(lambda _: mask.to("meta"))[0].repeats == 4


def test_a_run_without_steps_is_looked_at_as_a_whole():
    mask = torch.ones(4, 5)
    (found,) = watched(lambda _: [mask.to("meta") for _ in range(9)], steps=0)
    assert (found.steps, found.copies, found.repeats) == (0, 9, 8)


def test_copies_without_end_are_not_looked_at_for_ever(monkeypatch):
    monkeypatch.setattr(copy_facts, "MOST_COPIES", 5)
    mask = torch.ones(4, 5)
    (found,) = watched(lambda _: [mask.to("meta") for _ in range(9)], steps=0)
    assert found.copies == 5


def test_a_result_that_is_fetched_by_several_lines_is_told_for_those_that_had_no_need():
    def step(number):
        loss = Far(torch.tensor(float(number)))
        first = loss.item()
        copy = loss.cpu()
        second = loss.item()
        again = loss.to("cpu")
        assert first == second == copy == again

    found = watched(step)
    assert {each.place.source for each in found} == {"second = loss.item()", 'again = loss.to("cpu")'}
    assert {(each.device, each.back, each.copies, each.repeats) for each in found} == {("cuda:0", True, 4, 4)}


def test_a_result_that_is_new_each_time_is_fetched_once():
    total = Far(torch.tensor(0.0))

    def step(number):
        total.add_(number)
        total.item()

    assert not watched(step)
    assert not watched(lambda number: Far(torch.tensor(float(number))).cpu())


def test_tensors_without_memory_of_their_own_are_passed_over():
    def step(_):
        torch.func.vmap(lambda row: row.to("meta").to(torch.float64))(torch.ones(3, 2))

    assert not watched(step)


def test_no_tensor_is_held_by_it():
    probe, mask = Copies(), torch.ones(4, 5)
    watching = Watch(Settings(save=False, only=("performance",)), namespace={}, session=Session(), beside=(probe,))
    watching.start()
    mask.to("meta")
    alive = weakref.ref(mask.untyped_storage()), weakref.ref(mask)
    assert len(probe._known) == 1
    del mask
    gc.collect()
    assert [each() for each in alive] == [None, None]
    watching.stop()
    assert not probe._known


def test_the_bits_and_the_compiled_code_are_the_same():
    mask, other = torch.randn(4, 5), torch.randn(4, 5)

    def shift(rows):
        return rows + mask.to(rows.dtype).to("cpu")

    plain = shift(other)
    compiled = torch.compile(shift, backend="eager", fullgraph=True)
    watching = Watch(Settings(save=False, only=("performance",)), namespace={}, session=Session(), beside=(Copies(),))
    watching.start()
    try:
        assert torch.equal(compiled(other), plain)
        assert torch.equal(shift(other), plain)
    finally:
        watching.stop()
        torch._dynamo.reset()
