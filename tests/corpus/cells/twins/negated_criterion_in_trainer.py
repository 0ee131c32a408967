# case: ascending-loss-negated-criterion-in-trainer-repaired
# kind: healthy
# forbid: *
# style: trainer class that minimises the negative of a cross entropy
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=64, shuffle=True)


class Fitter:
    def __init__(self, net):
        self.net, self.criterion = net, nn.CrossEntropyLoss()
        self.opt = torch.optim.Adam(net.parameters(), lr=1e-3)

    def one_pass(self, loader):
        for x, t in loader:
            objective = self.criterion(self.net(x), t)
            self.opt.zero_grad()
            objective.backward()
            self.opt.step()
        return objective.item()
# --- cell ---
fitter = Fitter(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)))
for epoch in range(3):
    print(epoch, fitter.one_pass(loader))
