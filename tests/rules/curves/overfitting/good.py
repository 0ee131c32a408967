import torch
from torch import nn

torch.manual_seed(0)
x, x_val = torch.randn(400, 8), torch.randn(200, 8)
y, y_val = (x[:, 0] > 0).long(), (x_val[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(12):
    model.train()
    for _ in range(5):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val = nn.functional.cross_entropy(model(x_val), y_val)
