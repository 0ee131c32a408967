"""What only a CUDA device shows: memory that is really full, and pinned memory."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from torchmagic import find_batch_size, find_loader_settings

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")]


class Large(nn.Module):
    """Keeps 64 MiB a row for its backward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1 << 12, 1)

    def forward(self, x):
        return self.layer(x[:, None, :].expand(-1, 1 << 12, -1).sigmoid()).mean((1, 2))


def test_the_largest_batch_leaves_the_headroom_and_a_batch_beyond_it_runs_out_of_memory():
    model = Large().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    held = torch.cuda.memory_allocated()
    found = find_batch_size(model, optimizer, nn.MSELoss(), (torch.randn(2, 1 << 12), torch.zeros(2)), time_limit=60)
    best = found.recommended["batch_size"]
    row = next(row for row in found.rows if row.setting["batch_size"] == best)
    assert 0.1 <= row.figures["headroom"] < 0.25
    assert torch.cuda.memory_allocated() <= held + (1 << 20)
    found = find_batch_size(
        model, optimizer, nn.MSELoss(), (torch.randn(2, 1 << 12), torch.zeros(2)), sizes=[best, 4 * best]
    )
    assert "out of memory" in found.rows[1].failure
    assert found.recommended == {"batch_size": best}


def test_pinned_memory_is_tried():
    loader = DataLoader(TensorDataset(torch.randn(256, 64), torch.zeros(256)), batch_size=64)
    found = find_loader_settings(loader, num_workers=[0], time_limit=8)
    assert {row.setting["pin_memory"] for row in found.rows} == {False, True}
