import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: x = x + positions[torch.arange(x.shape[1])]
positions = torch.randn(16, 8)
x = torch.randn(2, 20, 8)
x = x + positions[torch.arange(x.shape[1])]
