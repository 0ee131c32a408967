# case: eval-mode-training-eval-left-from-an-earlier-cell
# kind: buggy
# expect: eval-mode-training
# module: drop
# style: model put into eval in an earlier cell for a sanity check, then trained
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
steps = torch.linspace(0, 50, 1200)
wave = torch.sin(steps) + 0.5 * torch.sin(3 * steps)
inputs = wave.unfold(0, 17, 2)
past, future = inputs[:, :16].unsqueeze(-1), inputs[:, 16]


class GRUForecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 12, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.lin = nn.Linear(12, 1)

    def forward(self, x):
        return self.lin(self.drop(self.gru(x)[0][:, -1])).squeeze(-1)


forecaster = GRUForecast()
forecaster.eval()
with torch.no_grad():
    baseline = nn.functional.mse_loss(forecaster(past), future).item()
# --- cell ---
opt = torch.optim.Adam(forecaster.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(len(past)).split(64):
        loss = nn.functional.mse_loss(forecaster(past[rows]), future[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), baseline)
