"""What a batch is, how it is cut, and what each piece of it counts."""

import pytest
import torch
from torch import nn

from torchmagic.tuning.batches import batch_of, cut, pieces_of, rows_of, shares

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "criterion",
    [
        nn.CrossEntropyLoss(),
        nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0, 0.2])),
        nn.CrossEntropyLoss(ignore_index=2),
        nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0, 0.2]), ignore_index=0, label_smoothing=0.1),
        nn.CrossEntropyLoss(reduction="sum"),
        nn.functional.cross_entropy,
    ],
    ids=["mean", "weighted", "ignoring", "all", "sum", "function"],
)
def test_the_losses_of_pieces_add_up_to_that_of_the_batch(criterion):
    torch.manual_seed(0)
    outputs, target = torch.randn(7, 3), torch.tensor([0, 1, 2, 2, 1, 0, 1])
    pieces = list(cut(batch_of((outputs, target), CPU, has_criterion=True), 3))
    counted = [(each, share) for each, share in zip(pieces, shares(pieces, criterion), strict=True) if share]
    parts = [criterion(each.args[0], each.target) * share for each, share in counted]
    torch.testing.assert_close(sum(parts), criterion(outputs, target))


def test_pieces_are_as_equal_as_can_be_and_no_more_than_rows():
    assert [rows_of(each) for each in pieces_of((torch.zeros(7, 2), 3.0), 3)] == [2, 2, 3]
    assert len(pieces_of(torch.zeros(2, 2), 5)) == 2


def test_what_has_no_rows_in_common_is_not_cut():
    with pytest.raises(ValueError, match="differ in their first dimension"):
        pieces_of((torch.zeros(9, 4), torch.zeros(4)), 2)


@pytest.mark.parametrize(
    ("given", "has_criterion", "args", "names"),
    [
        ((torch.ones(2), torch.zeros(2)), True, 1, []),
        ([torch.ones(2), torch.ones(2), torch.zeros(2)], True, 2, []),
        (torch.ones(2), True, 1, []),
        ({"x": torch.ones(2)}, False, 0, ["x"]),
        ((torch.ones(2), torch.zeros(2)), False, 2, []),
    ],
)
def test_a_batch_is_arguments_and_target(given, has_criterion, args, names):
    found = batch_of(given, CPU, has_criterion=has_criterion)
    assert (len(found.args), list(found.kwargs)) == (args, names)
    assert (found.target is not None) == has_criterion


@pytest.mark.parametrize(
    ("given", "match"),
    [(3, "a batch of int came"), ({"x": torch.ones(2)}, "criterion=None"), ([torch.ones(2)], "wanted")],
)
def test_what_is_no_batch_is_told_in_one_line(given, match):
    with pytest.raises(TypeError, match=match) as caught:
        batch_of(given, CPU, has_criterion=True)
    assert "\n" not in str(caught.value)
