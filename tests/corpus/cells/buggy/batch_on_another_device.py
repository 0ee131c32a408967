# case: device-mismatch-batch-on-another-device
# kind: buggy
# expect: device-mismatch
# raises: RuntimeError
# line: hidden = self.enc(batch)
# module: enc
# style: inputs moved with .to(device), the model stays where it was
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float()
device = torch.device("meta")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(10, 16)
        self.dec = nn.Linear(16, 1)

    def forward(self, batch):
        hidden = self.enc(batch)
        return self.dec(torch.relu(hidden)).squeeze(1)
# --- cell ---
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for rows in torch.randperm(442).repeat(4).split(64):
    loss = nn.functional.mse_loss(net(X[rows].to(device)), y[rows].to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
