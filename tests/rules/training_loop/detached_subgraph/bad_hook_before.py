"""What is hooked before the head gives it the features without their graph."""

# expect-line: net.head.register_forward_pre_hook(lambda module, args: (args[0].detach(),))
# expect-module: net.body
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


net = Net()
net.head.register_forward_pre_hook(lambda module, args: (args[0].detach(),))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
