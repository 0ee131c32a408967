import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: @torch.inference_mode()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    @torch.inference_mode()
    def forward(self, x):
        return self.layer(x)


model = Net()
model(torch.randn(8, 4)).square().mean().backward()
