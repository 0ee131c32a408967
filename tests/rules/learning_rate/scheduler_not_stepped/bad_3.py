# expect-line: self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=3)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=3)

    def fit(self):
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, shuffle=True)
        for _ in range(6):
            for xb, yb in loader:
                self.opt.zero_grad()
                nn.functional.cross_entropy(self.net(xb), yb).backward()
                self.opt.step()


def main():
    Trainer(model).fit()


main()
