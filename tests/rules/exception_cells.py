"""This file holds cells by which a rule must not be deceived, each with the replacements that make its twin sick."""

IMPORTS = """import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
"""
LOOP = """
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)
for step in range(12):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""
ADVERSARIAL = """
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
x, y, moved = torch.randn(32, 8), torch.randint(0, 3, (32,)), net
opt = torch.optim.Adam(moved.parameters(), lr=1e-2)
for step in range(8):
    attack = x.clone().requires_grad_(True)
    F.cross_entropy(net(attack), y).backward()
    opt.zero_grad()
    F.cross_entropy(net(x + 0.1 * attack.grad.sign()), y).backward()
    opt.step()
"""
GRADIENTS_BY_HAND = """
net, x, y = nn.Linear(3, 1), torch.randn(16, 3), torch.randn(16, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
        p.grad = g
    opt.step()
"""
SCALED = """
net, x, y = nn.Linear(3, 1), torch.randn(16, 3), torch.randn(16, 1)
opt = torch.optim.SGD(net.parameters(), lr=1.05)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
for step in range(8):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
"""
STEP, CLIP = "    scaler.step(opt)\n", "    nn.utils.clip_grad_norm_(net.parameters(), 1e12)\n"
GAN = """
G = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
g_opt, d_opt = torch.optim.Adam(G.parameters(), lr=1e-3), torch.optim.Adam(D.parameters(), lr=1e-3)
for step in range(8):
    real, fake = torch.randn(32, 2) + 2, G(torch.randn(32, 4))
    d_opt.zero_grad()
    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    d_loss.backward()
    d_opt.step()
    g_opt.zero_grad()
    g_loss = F.softplus(-D(fake)).mean()
    g_loss.backward()
    g_opt.step()
"""
TOWER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.middle, self.last = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)
        FILL

    def forward(self, x):
        h = torch.tanh(self.first(x))
        return self.last(COMBINE)

net, x, y = Net(), torch.randn(32, 4), torch.randn(32, 1)
"""
RESIDUAL = TOWER.replace("FILL", "nn.init.zeros_(self.middle.weight); nn.init.zeros_(self.middle.bias)")
EPISODES = """
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
kept = []
for episode in range(40):
    for t in range(8):
        logits = net(torch.randn(6, 4))
        kept.append(F.cross_entropy(logits, torch.randint(0, 2, (6,))))
    opt.zero_grad()
    torch.stack(kept[-8:]).mean().backward()
    opt.step()
    kept.clear()
"""
REBUILT = """
net, x, y = nn.Linear(3, 1), torch.randn(16, 3), torch.randn(16, 1)
for epoch in range(4):
    opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=2)
    for step in range(3):
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            return loss
        opt.step(closure)
"""
FOLDS = """
from torch.utils.data import DataLoader, Subset, TensorDataset
data = TensorDataset(torch.randn(60, 4), torch.randint(0, 2, (60,)))
for fold in range(4):
    part = Subset(data, [i for i in range(60) if i % 4 != fold])
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for x, y in DataLoader(part, batch_size=8, shuffle=True):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
"""
FROZEN = """
net = nn.ModuleDict({"body": nn.Linear(4, 8), "spare": nn.Linear(8, 2), "head": nn.Linear(8, 1)})
net["spare"].requires_grad_(False)
x, y = torch.randn(32, 4), torch.randn(32, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    opt.zero_grad()
    F.mse_loss(net["head"](torch.tanh(net["body"](x))), y).backward()
    opt.step()
"""
MODELESS = """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x, y = torch.randn(32, 4), torch.randn(32, 1)
net.eval()
"""
BANK = """
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))
x, y, new = torch.randn(32, 4), torch.randn(32, 1), torch.randn(16, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    net.train()
    for step in range(6):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
    net.eval()
    net[2].train()
    with torch.no_grad():
        draws = torch.stack([net(new) for _ in range(5)])
"""
ATTENTION = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        v = self.v(x)
        weights = (self.q(x) @ self.k(x).mT / 8**0.5).softmax(-1)
        return self.out(weights @ v)

net, x, y = Net(), torch.randn(16, 5, 8), torch.randn(16, 5, 8)
"""
CONTRASTIVE = """
class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))

    def forward(self, x):
        z = F.normalize(self.body(x), dim=1)
        return z @ z.mT

net, own = Pairs(), torch.arange(16)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    opt.zero_grad()
    loss = F.cross_entropy(net(torch.randn(16, 6)), own)
    loss.backward()
    opt.step()
"""
VECTOR = """
net, y = nn.Linear(4, 5), torch.tensor(2)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    opt.zero_grad()
    loss = -F.log_softmax(net(torch.randn(4)), 0)[y]
    loss.backward()
    opt.step()
"""
ROLLOUT = """
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(3):
    states, target = torch.randn(32, 4), torch.randn(32, 3)
    for epoch in range(12):
        batch = states
        opt.zero_grad()
        F.mse_loss(policy(batch), target).backward()
        opt.step()
"""

# Rule, what it must not be deceived by, the sound cell, and the replacement that makes its twin sick.
CASES = [
    ("param-not-in-optimizer", "inputs that are attacked", ADVERSARIAL, ("net\nopt", "net[2]\nopt")),
    ("backward-missing", "gradients set by hand", GRADIENTS_BY_HAND, ("p.grad = g", "g")),
    (
        "exploding-gradient",
        "the scale of a scaler",
        SCALED,
        ("F.mse", "65536.0 * F.mse"),
        ("lr=1.05", "lr=1.05 / 65536"),
    ),
    (
        "exploding-gradient",
        "a clip before the scale is taken out",
        SCALED.replace(STEP, CLIP + STEP),
        ("F.mse", "65536.0 * F.mse"),
        ("lr=1.05", "lr=1.05 / 65536"),
    ),
    ("detached-subgraph", "a pass of a discriminator", GAN, ("D(fake)).mean()\n", "D(fake.detach())).mean()\n")),
    (
        "zero-init",
        "a residual branch",
        RESIDUAL.replace("COMBINE", "h + self.middle(h)") + LOOP,
        ("h + self", "self"),
        ("middle.bias)", "middle.bias); nn.init.zeros_(self.last.weight)"),
    ),
    ("retained-graph-leak", "graphs of one episode", EPISODES, ("kept.clear()", "pass")),
    (
        "optimizer-recreated",
        "a search along lines",
        REBUILT,
        ("LBFGS(net.parameters(), lr=0.1, max_iter=2)", "Adam(net.parameters())"),
    ),
    ("model-recreated", "folds", FOLDS, ("Subset(data, [i for i in range(60) if i % 4 != fold])", "data")),
    ("unused-parameter", "a frozen part", FROZEN, ('net["spare"].requires_grad_(False)', "")),
    ("eval-mode-training", "a model without such layers", MODELESS + LOOP, ("nn.Tanh()", "nn.Dropout(0.1)")),
    ("train-mode-evaluation", "dropout that is left on by intent", BANK, ("net.eval()", "net.train()")),
    ("missing-activation", "projections of attention", ATTENTION + LOOP, ("weights @ v", "v")),
    (
        "batch-mixing",
        "a contrast within the batch",
        CONTRASTIVE,
        ("z @ z.mT", "(z @ z.mT)[:, :4]"),
        ("(16)", "(16) % 4"),
    ),
    (
        "wrong-dim-softmax",
        "a vector without a batch",
        VECTOR,
        ("torch.randn(4)), 0)[y]", "torch.randn(16, 4)), 0)[:, y].mean()"),
    ),
    (
        "constant-batch",
        "a rollout that is used again",
        ROLLOUT,
        ("batch = states", "torch.manual_seed(3); batch = torch.randn(32, 4)"),
    ),
]
