import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 20), torch.randint(0, 2, (40,))
x_val, y_val = torch.randn(200, 20), torch.randint(0, 2, (200,))
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 2))
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
