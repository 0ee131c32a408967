# case: amp-overflow-skips-squared-activations-in-half
# kind: buggy
# expect: amp-overflow-skips
# allow: nonfinite-gradient, loss-not-decreasing, params-unchanged, input-not-normalised, plateau, target-not-normalised, nonfinite-forward
# style: unscaled targets under float16 autocast; the scale halves until the end
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor(y).float().unsqueeze(1)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
initial = [p.detach().clone() for p in model.parameters()]
# --- cell ---
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
scales = []
for step in range(25):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        prediction = model(X)
    loss = (prediction.float() - y).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    scales.append(scaler.get_scale())
print(scales[0], scales[-1])
