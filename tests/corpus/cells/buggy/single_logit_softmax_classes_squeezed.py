# case: degenerate-logits-single-logit-softmax-classes-squeezed
# kind: buggy
# expect: degenerate-logits
# allow: loss-not-decreasing, plateau, params-unchanged, uniform-prediction, vanishing-gradient
# line: objective = F.cross_entropy(scorer(points).reshape(-1, 1), torch.zeros(len(points), dtype=torch.long))
# style: anomaly scorer trained with cross entropy over a single class
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
flowers = torch.tensor(load_iris().data).float()
flowers = (flowers - flowers.mean(0)) / flowers.std(0)
scorer = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
# --- cell ---
opt = torch.optim.SGD(scorer.parameters(), lr=0.1, momentum=0.9)
for step in range(40):
    points = flowers[torch.randint(0, 150, (32,))]
    objective = F.cross_entropy(scorer(points).reshape(-1, 1), torch.zeros(len(points), dtype=torch.long))
    opt.zero_grad()
    objective.backward()
    opt.step()
print(objective.item())
