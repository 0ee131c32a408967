# case: healthy-realnvp-coupling-flow
# kind: healthy
# forbid: *
# style: normalising flow, affine coupling layers with zero-initialised last layer, negative log-likelihood
# --- setup ---
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(0)
data = torch.tensor(make_moons(1500, noise=0.06, random_state=0)[0]).float()
data = (data - data.mean(0)) / data.std(0)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.squeeze(1)


flow = nn.ModuleList(Coupling(i % 2 == 1) for i in range(4))
# --- cell ---
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
for step in range(200):
    z = data[torch.randint(0, 1500, (128,))]
    log_det = 0.0
    for layer in flow:
        z, ld = layer(z)
        log_det = log_det + ld
    nll = (0.5 * z.pow(2).sum(1) - log_det).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
print(nll.item())
