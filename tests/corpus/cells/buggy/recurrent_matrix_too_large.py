# case: exploding-gradient-recurrent-matrix-too-large
# kind: buggy
# expect: exploding-gradient
# allow: lr-too-high, loss-not-decreasing, nonfinite-forward, nonfinite-gradient, update-too-large, input-not-normalised
# line: loss.backward()
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
        nn.init.orthogonal_(self.rec.weight, gain=2.0)

    def forward(self, x):
        h = torch.zeros(len(x), 12)
        for t in range(x.shape[1]):
            h = self.inp(x[:, t]) + self.rec(h)
        return self.out(h)
# --- cell ---
rnn = LinearRNN()
opt = torch.optim.SGD(rnn.parameters(), lr=1e-4)
norms = []
for step in range(25):
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(rnn(signal[rows]), goal[rows])
    opt.zero_grad()
    loss.backward()
    norms.append(sum(p.grad.norm() ** 2 for p in rnn.parameters()).sqrt().item())
    opt.step()
print(norms[0], max(norms), loss.item())
