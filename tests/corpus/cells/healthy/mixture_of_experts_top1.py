# case: healthy-mixture-of-experts-top1
# kind: healthy
# forbid: *
# style: noisy top-1 routing with a load-balancing loss; an expert may receive no sample in a batch
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)


class MoE(nn.Module):
    def __init__(self, experts=6, width=24):
        super().__init__()
        self.router = nn.Linear(64, experts)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10)) for _ in range(experts))

    def forward(self, x):
        scores = self.router(x)
        gate = torch.softmax(scores + 0.5 * torch.randn_like(scores), -1)
        weight, choice = gate.max(-1)
        out = torch.zeros(len(x), 10)
        for k, expert in enumerate(self.experts):
            rows = (choice == k).nonzero().squeeze(1)
            if len(rows):
                out = out.index_add(0, rows, weight[rows].unsqueeze(1) * expert(x[rows]))
        used = torch.bincount(choice, minlength=len(self.experts)) / len(x)
        return out, len(self.experts) * (used * gate.mean(0)).sum()


moe = MoE()
# --- cell ---
opt = torch.optim.Adam(moe.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(X)).split(32):
        out, balance = moe(X[rows])
        loss = nn.functional.cross_entropy(out, y[rows]) + 0.05 * balance
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
