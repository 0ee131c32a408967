"""This file tests how it is read that one value a row is picked from a softmax."""

import pytest
import torch

from torchmagic.probes.graph_walk import walk
from torchmagic.probes.picks import picks

ROWS, LABELS = torch.arange(6), torch.tensor([0, 1, 2, 0, 1, 2])
PICKED = {
    "indexed": lambda table: table[ROWS, LABELS],
    "gathered": lambda table: table.gather(1, LABELS[:, None]),
    "a logarithm": lambda table: (table + 1e-6).log()[ROWS, LABELS],
}
NOT_PICKED = {
    "rows alone": lambda table: table[ROWS],
    "a column alone": lambda table: table[:, 1],
    "rows in another order": lambda table: table[ROWS.flip(0), LABELS],
    "gathered along the rows": lambda table: table.gather(0, LABELS[None, :3]),
}


def softmax(dim=0, shape=(6, 3)):
    return torch.randn(*shape, requires_grad=True).softmax(dim)


def found(loss):
    return [(each.reason, each.dim, each.wanted) for each in picks(walk(loss).nodes)]


@pytest.mark.parametrize("how", PICKED.values(), ids=PICKED)
def test_what_is_picked_from_each_row_of_a_softmax_over_the_rows_is_found(how):
    assert found(how(softmax()).sum()) == [("picked", 0, 1)]
    assert not found(how(softmax(1)).sum())


@pytest.mark.parametrize("how", NOT_PICKED.values(), ids=NOT_PICKED)
def test_what_is_not_one_value_a_row_is_no_pick(how):
    assert not found(how(softmax()).sum())


def test_in_a_square_matrix_both_ways_are_meant():
    assert not found(softmax(shape=(6, 6))[ROWS, LABELS].sum())


def test_hooks_of_the_users_are_not_asked_and_what_a_backward_has_freed_is_not_missed():
    asked = []
    with torch.autograd.graph.saved_tensors_hooks(lambda each: each, lambda each: asked.append(each) or each):
        loss = softmax()[ROWS, LABELS].sum()
    assert not found(loss)
    assert not asked
    loss = softmax()[ROWS, LABELS].sum()
    loss.backward()
    assert not found(loss)
