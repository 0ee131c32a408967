# case: clip-ineffective-clip-cleared-gradients
# kind: buggy
# expect: clip-ineffective
# line: torch.nn.utils.clip_grad_norm_(rnn.parameters(), max_norm=1.0)
# style: LSTM on sine windows, clip stands between zero_grad and backward
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
series = torch.sin(torch.linspace(0, 60, 900)) + 0.1 * torch.randn(900)
windows = series.unfold(0, 21, 3)
past, future = windows[:, :20].unsqueeze(-1), windows[:, 20:]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, seq):
        states, _ = self.lstm(seq)
        return self.out(states[:, -1])
# --- cell ---
rnn = Forecaster()
optimizer = torch.optim.Adam(rnn.parameters(), lr=0.01)
for epoch in range(10):
    for rows in torch.randperm(len(past)).split(64):
        loss = nn.functional.mse_loss(rnn(past[rows]), future[rows])
        optimizer.zero_grad()
        torch.nn.utils.clip_grad_norm_(rnn.parameters(), max_norm=1.0)
        loss.backward()
        optimizer.step()
print(loss.item())
