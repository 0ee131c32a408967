# case: zero-gradient-quality-rounded-before-the-error
# kind: buggy
# expect: zero-gradient
# allow: loss-not-decreasing, plateau, update-too-small, uniform-prediction
# line: error = ((grader(samples).squeeze(1) * 2).round() / 2 - grades).abs().mean()
# style: grades in half points, compared as they will be printed
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
wine = torch.tensor(load_wine().data).float()
wine = (wine - wine.mean(0)) / wine.std(0)
marks = (wine[:, 0] + wine[:, 9]).mul(2).round() / 2
# --- cell ---
grader = nn.Sequential(nn.Linear(13, 24), nn.SiLU(), nn.Linear(24, 1))
adam = torch.optim.Adam(grader.parameters(), lr=3e-3)
for epoch in range(12):
    order = torch.randperm(len(wine))
    for chosen in order.split(32):
        samples, grades = wine[chosen], marks[chosen]
        error = ((grader(samples).squeeze(1) * 2).round() / 2 - grades).abs().mean()
        adam.zero_grad()
        error.backward()
        adam.step()
    print(epoch, round(error.item(), 3))
