# case: healthy-softmax-inside-attention-pool
# kind: healthy
# forbid: *
# style: attention pooling with softmax over time (dim=1) and logits to cross entropy
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
seq = torch.randn(600, 8, 5)
marker = torch.randint(0, 8, (600,))
seq[torch.arange(600), marker, 0] = 4.0
label = (seq[torch.arange(600), marker, 1] > 0).long()


class AttentionPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(5, 1)
        self.value = nn.Linear(5, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        w = torch.softmax(self.score(x), dim=1)
        pooled = (w * torch.relu(self.value(x))).sum(1)
        return self.out(pooled)


net = AttentionPool()
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(600).split(50):
        loss = nn.functional.cross_entropy(net(seq[rows]), label[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
