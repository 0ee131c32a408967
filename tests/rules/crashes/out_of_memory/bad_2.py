import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: raise torch.OutOfMemoryError(FULL)
FULL = (
    "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 12.06 MiB is free. "
    "Of the allocated memory 15.20 GiB is allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated."
)


class Full(nn.Module):
    def forward(self, x):
        raise torch.OutOfMemoryError(FULL)


model = nn.Sequential(nn.Linear(4, 4), Full())
model(torch.randn(8, 4))
