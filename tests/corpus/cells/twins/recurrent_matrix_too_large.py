# case: exploding-gradient-recurrent-matrix-too-large-repaired
# kind: healthy
# forbid: *
# style: linear recurrent cell with a recurrent matrix of radius 2, no clipping
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
signal = torch.randn(256, 18, 2)
goal = signal.sum((1, 2), keepdim=False).unsqueeze(1) / 6


class LinearRNN(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.inp = nn.Linear(2, width)
        self.rec = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, 1)
        nn.init.orthogonal_(self.rec.weight, gain=0.9)

    def forward(self, x):
        h = torch.zeros(len(x), 12)
        for t in range(x.shape[1]):
            h = self.inp(x[:, t]) + self.rec(h)
        return self.out(h)
# --- cell ---
rnn = LinearRNN()
opt = torch.optim.Adam(rnn.parameters(), lr=1e-2)
norms = []
for step in range(80):
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(rnn(signal[rows]), goal[rows])
    opt.zero_grad()
    loss.backward()
    norms.append(sum(p.grad.norm() ** 2 for p in rnn.parameters()).sqrt().item())
    opt.step()
print(norms[0], max(norms), loss.item())
