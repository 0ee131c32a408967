# case: backward-twice-carried-state-second-backward
# kind: buggy
# expect: backward-twice
# raises: RuntimeError
# line: out, state = lstm(piece, state)
# style: LSTM over pieces of a long series, state tuple carried without detach
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
series = torch.sin(torch.linspace(0, 40, 401)).view(1, -1, 1)
lstm, readout = nn.LSTM(1, 12, batch_first=True), nn.Linear(12, 1)
opt = torch.optim.Adam([*lstm.parameters(), *readout.parameters()], lr=1e-2)
# --- cell ---
state = None
for start in range(0, 400, 25):
    piece, nxt = series[:, start:start + 25], series[:, start + 1:start + 26]
    out, state = lstm(piece, state)
    loss = nn.functional.mse_loss(readout(out), nxt)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
