# case: zero-init-all-linear-layers-zeroed-repaired
# kind: healthy
# forbid: *
# style: model.apply(init) with weight.data.zero_() in a regression class
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float()


def init(layer):
    if isinstance(layer, nn.Linear):
        nn.init.xavier_uniform_(layer.weight)
        layer.bias.data.zero_()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 1))
        self.apply(init)

    def forward(self, x):
        return self.layers(x).squeeze(-1)
# --- cell ---
net = Net()
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for step in range(50):
    rows = torch.randint(0, 442, (64,))
    loss = nn.functional.mse_loss(net(X[rows]), y[rows])
    sgd.zero_grad()
    loss.backward()
    sgd.step()
print(loss.item())
