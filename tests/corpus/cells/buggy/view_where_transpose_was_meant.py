# case: batch-mixing-view-where-transpose-was-meant
# kind: buggy
# expect: batch-mixing
# allow: loss-not-decreasing, plateau, uniform-prediction, overfitting
# line: h, _ = self.gru(x.view(t, b, f))
# module: MixNet
# style: (batch, time, feature) viewed as (time, batch, feature) before a GRU
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
seqs = torch.randn(480, 7, 5)
goal = (seqs[:, :, 0].sum(1) > 0).long()


class MixNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(5, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        b, t, f = x.shape
        h, _ = self.gru(x.view(t, b, f))
        return self.out(h[-1])
# --- cell ---
net = MixNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(480).split(32):
        loss = nn.functional.cross_entropy(net(seqs[rows]), goal[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
