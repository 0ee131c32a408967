import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: weight -= 0.1 * weight.grad
weight = torch.randn(4, 1, requires_grad=True)
for _ in range(4):
    loss = (torch.randn(8, 4) @ weight).square().mean()
    loss.backward()
    weight -= 0.1 * weight.grad
