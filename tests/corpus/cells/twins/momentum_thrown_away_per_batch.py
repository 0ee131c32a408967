# case: optimizer-recreated-momentum-thrown-away-per-batch-repaired
# kind: healthy
# forbid: *
# style: tuple-of-tensors model written by hand, SGD with momentum made in the inner loop
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch.optim import SGD

torch.manual_seed(0)
features, progression = load_diabetes(return_X_y=True)
features = torch.tensor(features * 21, dtype=torch.float32)
progression = torch.tensor((progression - progression.mean()) / progression.std(), dtype=torch.float32)
w1 = (torch.randn(10, 16) * 0.3).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
w2 = (torch.randn(16) * 0.2).requires_grad_()
params = [w1, b1, w2]
# --- cell ---
opt = SGD(params, lr=0.05, momentum=0.9, nesterov=True)
for epoch in range(5):
    for rows in torch.randperm(442).split(48):
        opt.zero_grad()
        guess = torch.tanh(features[rows] @ w1 + b1) @ w2
        loss = torch.nn.functional.mse_loss(guess, progression[rows])
        loss.backward()
        opt.step()
    print(epoch, round(loss.item(), 4))
