# case: missing-zero-grad-fit-function-digits-linear-probe
# kind: buggy
# expect: missing-zero-grad
# allow: exploding-gradient, lr-too-high, update-too-large, loss-not-decreasing
# line: objective.backward()
# style: reusable fit(model, loader, epochs) function, softmax regression on digits, SGD with momentum
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
bunch = load_digits()
images = torch.from_numpy(bunch.data).float().div(16)
labels = torch.from_numpy(bunch.target)
train = DataLoader(TensorDataset(images, labels), batch_size=100, shuffle=True)


def fit(net, batches, epochs, lr):
    sgd = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    curve = []
    for _ in range(epochs):
        for pixels, digit in batches:
            objective = F.cross_entropy(net(pixels), digit)
            objective.backward()
            sgd.step()
            curve.append(objective.item())
    return curve
# --- cell ---
net = nn.Linear(64, 10)
curve = fit(net, train, epochs=4, lr=0.1)
print(f"start {curve[0]:.3f} end {curve[-1]:.3f}")
