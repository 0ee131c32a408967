# case: nonfinite-forward-handmade-softmax-overflows
# kind: buggy
# expect: nonfinite-forward
# allow: nonfinite-gradient, poor-init-scale, initial-loss, loss-not-decreasing, input-not-normalised, uniform-prediction
# line: e = torch.exp(z)
# module: soft
# style: softmax layer written with a bare exp, large logits
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x, t = torch.tensor(d.data).float(), torch.tensor(d.target)


class Softmax(nn.Module):
    def forward(self, z):
        e = torch.exp(z)
        return e / e.sum(1, keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 10)
        self.soft = Softmax()

    def forward(self, x):
        return self.soft(20 * self.fc(x))
# --- cell ---
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(60):
    rows = torch.randint(0, len(x), (64,))
    p = net(x[rows])
    loss = nn.functional.nll_loss(torch.log(p + 1e-8), t[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
