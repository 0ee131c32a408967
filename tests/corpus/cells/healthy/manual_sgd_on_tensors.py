# case: healthy-manual-sgd-on-tensors
# kind: healthy
# forbid: *
# style: no optimizer and no module, updates under no_grad, grad.zero_()
# --- setup ---
import torch
from sklearn.datasets import load_iris

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
x = (x - x.mean(0)) / x.std(0)
t = torch.tensor(iris.target)
W = (0.1 * torch.randn(4, 3)).requires_grad_()
b = torch.zeros(3, requires_grad=True)
# --- cell ---
lr = 0.3
for step in range(60):
    loss = torch.nn.functional.cross_entropy(x @ W + b, t)
    loss.backward()
    with torch.no_grad():
        for p in (W, b):
            p -= lr * p.grad
            p.grad.zero_()
    if step % 20 == 0:
        print(step, loss.item())
