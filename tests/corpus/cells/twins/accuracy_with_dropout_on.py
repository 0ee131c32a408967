# case: train-mode-evaluation-accuracy-with-dropout-on-repaired
# kind: healthy
# forbid: *
# style: Learner class, inference_mode accuracy method without eval
# --- setup ---
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
parts = train_test_split((X - X.mean(0)) / X.std(0), y, test_size=0.4, random_state=0, stratify=y)
xtr, xte = (torch.tensor(p).float() for p in parts[:2])
ytr, yte = (torch.tensor(p) for p in parts[2:])


class Learner:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters(), lr=5e-3)

    def epoch(self):
        self.net.train()
        for xb, yb in zip(xtr.split(20), ytr.split(20)):
            self.opt.zero_grad()
            loss = nn.functional.cross_entropy(self.net(xb), yb)
            loss.backward()
            self.opt.step()
        return loss.item()

    @torch.inference_mode()
    def accuracy(self):
        self.net.eval()
        guesses = []
        for xb in xte.split(24):
            guesses.append(self.net(xb).argmax(-1))
        return (torch.cat(guesses) == yte).float().mean().item()
# --- cell ---
learner = Learner(nn.Sequential(nn.Linear(13, 48), nn.ReLU(), nn.Dropout(0.5), nn.Linear(48, 3)))
for epoch in range(12):
    print(epoch, learner.epoch(), learner.accuracy())
