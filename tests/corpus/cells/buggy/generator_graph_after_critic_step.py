# case: inplace-autograd-error-generator-graph-after-critic-step
# kind: buggy
# expect: inplace-autograd-error
# raises: RuntimeError
# line: opt_c.step()
# style: GAN: generator loss uses critic outputs from before the critic's update
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
real_data = torch.randn(1000, 2) * 0.3 + 1
gen = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
cri = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
# --- cell ---
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(cri.parameters(), lr=1e-3)
for step in range(40):
    real = real_data[torch.randint(0, 1000, (64,))]
    fake_score, real_score = cri(gen(torch.randn(64, 4))), cri(real)
    critic_loss = fake_score.mean() - real_score.mean() + real_score.square().mean()
    opt_c.zero_grad()
    critic_loss.backward(retain_graph=True)
    opt_c.step()
    opt_g.zero_grad()
    (-fake_score.mean()).backward()
    opt_g.step()
