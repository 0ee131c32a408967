# case: params-unchanged-bf16-weights-tiny-updates
# kind: buggy
# expect: params-unchanged
# allow: loss-not-decreasing, plateau, update-too-small, uniform-prediction
# style: model cast to bfloat16, plain SGD with a learning rate that bf16 cannot resolve
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.data / 16, dtype=torch.bfloat16)
y = torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(torch.bfloat16)
weights_before = [p.detach().clone() for p in model.parameters()]
# --- cell ---
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
for step in range(50):
    rows = torch.randint(0, len(x), (128,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]).float(), y[rows])
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
