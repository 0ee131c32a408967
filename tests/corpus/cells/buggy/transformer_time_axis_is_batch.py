# case: batch-mixing-transformer-time-axis-is-batch
# kind: buggy
# expect: batch-mixing
# allow: overfitting
# module: encoder
# style: TransformerEncoderLayer without batch_first on batch-first data
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
items = torch.randint(0, 15, (400, 6))
has_three = (items == 3).any(1).long()


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 16)
        self.encoder = nn.TransformerEncoderLayer(16, 2, dim_feedforward=32, dropout=0.0)
        self.cls = nn.Linear(16, 2)

    def forward(self, ids):
        return self.cls(self.encoder(self.emb(ids)).mean(1))
# --- cell ---
tiny = Tiny()
opt = torch.optim.AdamW(tiny.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(400).split(40):
        loss = nn.functional.cross_entropy(tiny(items[rows]), has_three[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
