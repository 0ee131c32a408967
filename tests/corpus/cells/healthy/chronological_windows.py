# case: healthy-chronological-windows
# kind: healthy
# forbid: *
# style: time series, loader without shuffle, GRU regression
# --- setup ---
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
level = torch.cumsum(0.1 * torch.randn(700), 0) + torch.sin(torch.arange(700) / 12)
level = (level - level.mean()) / level.std()
win = level.unfold(0, 13, 1)
ds = TensorDataset(win[:, :12].unsqueeze(-1), win[:, 12:])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.GRU(1, 16, batch_first=True), nn.Linear(16, 1)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


model = Model()
# --- cell ---
loader = DataLoader(ds, batch_size=32, shuffle=False)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    print(epoch, total / len(ds))
