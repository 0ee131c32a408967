"""This file tests which columns of a tensor are data, where others beside them are learned."""

import pytest
import torch

from torchmagic.probes.raw_parts import raw_part

DATA, MORE = torch.arange(12.0).reshape(4, 3), torch.ones(4, 2)


@pytest.fixture
def learned():
    return torch.randn(4, 5, requires_grad=True) * 2


def test_what_no_graph_leads_to_is_data():
    assert raw_part(DATA) is DATA


@pytest.mark.parametrize("dim", [1, -1])
def test_columns_beside_learned_ones_are_data(learned, dim):
    assert torch.equal(raw_part(torch.cat([learned, DATA, MORE, learned], dim)), torch.cat([DATA, MORE], 1))
    assert torch.equal(raw_part(torch.cat([DATA, learned], dim)), DATA)
    assert torch.equal(raw_part(torch.cat([learned, learned, MORE], dim)), MORE)


def test_what_cannot_be_told_apart_is_none(learned):
    assert raw_part(torch.cat([DATA, learned, MORE], 1)) is None
    assert raw_part(torch.cat([learned, torch.ones(2, 5)], 0)) is None
    assert raw_part(torch.cat([learned, learned], 1)) is None
    assert raw_part(learned + 1) is None
