# case: nonfinite-forward-masked-mean-without-tokens
# kind: buggy
# expect: nonfinite-forward
# allow: nonfinite-gradient, loss-not-decreasing, uniform-prediction
# line: return (h * mask).sum(1) / mask.sum(1)
# style: masked mean pooling, one sentence is empty
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(1, 25, (300, 8))
lengths = torch.randint(1, 9, (300,))
lengths[137] = 0
keep = (torch.arange(8) < lengths[:, None]).float().unsqueeze(-1)
label = (tokens * keep.squeeze(-1) == 5).any(1).long()


class MeanPool(nn.Module):
    def forward(self, h, mask):
        return (h * mask).sum(1) / mask.sum(1)


class TextNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(25, 12)
        self.pool = MeanPool()
        self.out = nn.Linear(12, 2)

    def forward(self, t, m):
        return self.out(self.pool(self.table(t), m))
# --- cell ---
net = TextNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(300).split(50):
        loss = nn.functional.cross_entropy(net(tokens[rows], keep[rows]), label[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
