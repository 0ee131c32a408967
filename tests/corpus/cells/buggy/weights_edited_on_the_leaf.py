# case: inplace-autograd-error-weights-edited-on-the-leaf
# kind: buggy
# expect: inplace-autograd-error
# raises: RuntimeError
# line: weight -= 0.1 * weight.grad
# style: manual SGD on leaf tensors without no_grad
# --- setup ---
import torch
from sklearn.datasets import load_diabetes

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float()
weight = torch.zeros(10, requires_grad=True)
# --- cell ---
for epoch in range(30):
    loss = ((X @ weight - y) ** 2).mean()
    loss.backward()
    weight -= 0.1 * weight.grad
    weight.grad.zero_()
