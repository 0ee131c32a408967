import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: hidden = self.body(x) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.scale = torch.ones(4, device="meta")

    def forward(self, x):
        hidden = self.body(x) * self.scale
        return hidden.sum()


Net()(torch.randn(3, 4)).backward()
