# case: healthy-gru-state-detached
# kind: healthy
# forbid: *
# style: stateful GRU, hidden state detached after each piece
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
t = torch.linspace(0, 120, 2001)
wave = (torch.sin(t) + 0.3 * torch.sin(2.7 * t)).view(1, -1, 1)
gru, out = nn.GRU(1, 20, batch_first=True), nn.Linear(20, 1)
# --- cell ---
opt = torch.optim.Adam([*gru.parameters(), *out.parameters()], lr=1e-2)
for epoch in range(2):
    h = torch.zeros(1, 1, 20)
    for s in range(0, 2000, 40):
        h = h.detach()
        y, h = gru(wave[:, s:s + 40], h)
        loss = nn.functional.mse_loss(out(y), wave[:, s + 1:s + 41])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
