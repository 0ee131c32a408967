# case: unused-parameter-attention-layer-never-called
# kind: buggy
# expect: unused-parameter
# module: mixer
# style: sequence classifier, attention defined in __init__ and forgotten in forward
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
sequences = torch.randn(400, 10, 6)
labels = (sequences[:, :, 0].mean(1) > 0).long()


class SequenceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(6, 16)
        self.mixer = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.out = nn.Linear(16, 2)

    def forward(self, s):
        h = torch.relu(self.inp(s))
        return self.out(self.norm(h).mean(1))
# --- cell ---
net = SequenceNet()
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(6):
    for rows in torch.randperm(400).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(sequences[rows]), labels[rows])
        loss.backward()
        opt.step()
print(loss.item())
