# case: symmetric-init-own-dense-layer-of-halves-repaired
# kind: healthy
# forbid: *
# style: own Dense module with nn.Parameter(torch.full(...)), tanh regression
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)


class Dense(nn.Module):
    def __init__(self, fan_in, fan_out, value):
        super().__init__()
        self.weight = nn.Parameter(value * torch.randn(fan_out, fan_in))
        self.bias = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = Dense(10, 16, 0.05)
        self.final = Dense(16, 1, 0.05)

    def forward(self, x):
        return self.final(torch.tanh(self.hidden(x)))
# --- cell ---
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for it in range(60):
    loss = nn.functional.mse_loss(model(X), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
