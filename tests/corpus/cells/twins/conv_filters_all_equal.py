# case: symmetric-init-conv-filters-all-equal-repaired
# kind: healthy
# forbid: *
# style: CNN with nn.init.ones_-like fill for a "reproducible" start
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.images / 16).float().unsqueeze(1), torch.tensor(d.target)), 64, shuffle=True)


class Filters(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.head = nn.Linear(8 * 9, 10)
        nn.init.kaiming_normal_(self.conv.weight)

    def forward(self, x):
        return self.head(nn.functional.avg_pool2d(torch.relu(self.conv(x)), 2).flatten(1))
# --- cell ---
net = Filters()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(2):
    for x, y in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
