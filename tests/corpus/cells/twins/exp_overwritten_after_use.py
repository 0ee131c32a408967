# case: inplace-autograd-error-exp-overwritten-after-use-repaired
# kind: healthy
# forbid: *
# style: in-place normalisation of an exp whose value is needed by backward
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def forward(self, x):
        e = torch.exp(self.fc(x))
        e = e / e.sum(dim=1, keepdim=True)
        return e
# --- cell ---
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.2)
for epoch in range(30):
    loss = nn.functional.nll_loss(torch.log(net(X) + 1e-9), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
