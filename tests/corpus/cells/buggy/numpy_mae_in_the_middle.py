# case: detached-loss-numpy-mae-in-the-middle
# kind: buggy
# expect: detached-loss
# allow: params-unchanged, loss-not-decreasing, plateau, backward-missing
# line: return torch.tensor(np.abs(forecast.detach().numpy() - truth.numpy()).mean(), requires_grad=True)
# style: regression with a metric written in numpy used as training loss, method of a class
# --- setup ---
import numpy as np
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
xs, ys = load_diabetes(return_X_y=True)
xs = torch.tensor(xs / xs.std(0), dtype=torch.float32)
ys = torch.tensor((ys - ys.mean()) / ys.std(), dtype=torch.float32)


class Experiment:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
        self.optim = torch.optim.Adam(self.net.parameters(), lr=3e-3)

    def mae(self, forecast, truth):
        return torch.tensor(np.abs(forecast.detach().numpy() - truth.numpy()).mean(), requires_grad=True)

    def train(self, rounds):
        history = []
        for _ in range(rounds):
            for rows in torch.randperm(len(xs)).split(64):
                self.optim.zero_grad()
                loss = self.mae(self.net(xs[rows]), ys[rows])
                loss.backward()
                self.optim.step()
                history.append(loss.item())
        return history
# --- cell ---
experiment = Experiment()
history = experiment.train(6)
print(history[0], history[-1])
