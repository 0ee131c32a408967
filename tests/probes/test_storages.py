"""This file tests the count of bytes: each storage once, of whatever kind the tensor is."""

import pytest
import torch

from torchmagic.probes.storages import MOST_ITEMS, BlockRefs, Ledger, blocks_of, tensors_in

CPU = torch.device("cpu")


def test_a_storage_counts_once_however_many_tensors_look_at_it():
    x = torch.zeros(100)
    ledger = Ledger(CPU)
    assert ledger.claim([x, x[:10], x.view(10, 10), x.detach()]) == 400
    assert ledger.claim([x]) == 0


def test_a_view_counts_the_whole_storage():
    assert Ledger().claim([torch.zeros(100)[:1]]) == 400


@pytest.mark.parametrize(
    ("tensor", "size"),
    [
        (torch.zeros(0), 0),
        (torch.zeros(()), 4),
        (torch.zeros(3, dtype=torch.bfloat16), 6),
        (torch.zeros(3, dtype=torch.complex64), 24),
        (torch.empty(5, device="meta"), 0),
        (torch.eye(4).to_sparse(), 2 * 4 * 8 + 4 * 4),
        (torch.nn.LazyLinear(3).weight, 0),
        (torch.nn.Parameter(torch.zeros(3)), 12),
    ],
)
def test_every_kind_of_tensor_counts_its_bytes_or_none(tensor, size):
    assert Ledger().claim([tensor]) == size


def test_other_devices_are_left_out():
    assert Ledger(torch.device("cuda", 0)).claim([torch.zeros(3)]) == 0


def test_tensors_are_found_in_containers_and_nowhere_else():
    x, y, z = torch.zeros(1), torch.ones(1), torch.full((1,), 2.0)
    assert [t.item() for t in tensors_in([x, {"a": (y,)}, "text", {"b": z}])] == [0, 1, 2]
    assert list(tensors_in(object())) == []


def test_the_search_ends_in_what_is_endless():
    endless = [torch.zeros(1)]
    endless.append(endless)
    assert 0 < len(list(tensors_in(endless))) <= MOST_ITEMS
    assert list(tensors_in([[list(range(1000))] * 1000] * 1000)) == []


def test_remembered_blocks_are_let_go_with_their_tensors():
    refs = BlockRefs()
    kept, gone = torch.zeros(1000), torch.zeros(2000)
    refs.add([kept, gone])
    assert sum(block.size for block in refs.alive()) == 12_000
    del gone
    assert refs.alive() == list(blocks_of(kept))
    del kept
    assert refs.alive() == []
