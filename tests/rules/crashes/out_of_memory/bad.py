import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: distances = (points[:, None] - points[None]).norm(dim=-1)
encoder = nn.Linear(3, 2)
with torch.no_grad():
    points = encoder(torch.randn(5_000_000, 3))
distances = (points[:, None] - points[None]).norm(dim=-1)
