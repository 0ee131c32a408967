"""A transformer classifier under autocast with a gradient scaler and four batches to a step, warmed up and decayed."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
rows = torch.tensor(digits.images, dtype=torch.float32) / 16
loader = DataLoader(TensorDataset(rows, torch.tensor(digits.target)), batch_size=32, shuffle=True, drop_last=True)


class Reader(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed, self.place = nn.Linear(8, width), nn.Parameter(torch.zeros(1, 8, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.norm(self.encoder(self.embed(x) + self.place)).mean(1))


model, ACCUMULATE = Reader(), 4
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
TOTAL = 8 * len(loader) // ACCUMULATE
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=10)
decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=TOTAL - 10)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, decay], [10])
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
optimizer.zero_grad()
for epoch in range(8):
    for i, (batch, target) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(batch), target) / ACCUMULATE
        scaler.scale(loss).backward()
        if (i + 1) % ACCUMULATE == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scheduler.step()
result = list(model.state_dict().values())
