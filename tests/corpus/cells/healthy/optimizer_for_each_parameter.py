# case: healthy-optimizer-for-each-parameter
# kind: healthy
# forbid: *
# style: variational inference by hand: each parameter has an optimizer of its own, all step by one summed loss
# --- setup ---
import math

import torch
from sklearn.datasets import load_diabetes
from torch.distributions import Normal

torch.manual_seed(0)
x, y = load_diabetes(return_X_y=True, scaled=True)
x, y = torch.tensor(x[:, :4] * 20).float(), torch.tensor((y - y.mean()) / y.std()).float()
# --- cell ---
begins = (("bias", 1, 0.0), ("weight", 4, 0.0), ("log_noise", 1, -1.2))
places = {name: torch.full((size,), value, requires_grad=True) for name, size, value in begins}
spreads = {name: torch.full_like(place, -3.0, requires_grad=True) for name, place in places.items()}
optimizers = [torch.optim.Adam([each], lr=0.02) for each in (*spreads.values(), *places.values())]
bounds = []
for step in range(150):
    drawn = {name: places[name] + spreads[name].exp() * torch.randn_like(places[name]) for name in places}
    likelihood = Normal(x @ drawn["weight"] + drawn["bias"], drawn["log_noise"].exp()).log_prob(y).sum()
    prior = sum(Normal(0.0, 1.0).log_prob(each).sum() for each in drawn.values())
    entropy = sum((spread + 0.5 * math.log(2 * math.pi * math.e)).sum() for spread in spreads.values())
    loss = -(likelihood + prior + entropy)
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    bounds.append(-loss.item())
print(bounds[0], sum(bounds[-10:]) / 10)
