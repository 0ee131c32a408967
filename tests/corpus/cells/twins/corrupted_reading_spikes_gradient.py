# case: exploding-gradient-corrupted-reading-spikes-gradient-repaired
# kind: healthy
# forbid: *
# style: GRU on sensor windows; one stuck reading of a million in the targets, no clipping
# --- setup ---
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
time = torch.arange(1300) / 15
sensor = torch.sin(time) + 0.1 * torch.randn(1300)
windows = sensor.unfold(0, 13, 2)
past, nxt = windows[:, :12].unsqueeze(-1).clone(), windows[:, 12:].clone()
loader = DataLoader(TensorDataset(past, nxt), batch_size=32, shuffle=True)


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 12, batch_first=True)
        self.fc = nn.Linear(12, 1)

    def forward(self, x):
        return self.fc(self.gru(x)[0][:, -1])
# --- cell ---
net = SensorNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
norms = []
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        norms.append(sum(p.grad.norm() ** 2 for p in net.parameters()).sqrt().item())
        opt.step()
    print(epoch, loss.item())
