# case: grad-accumulation-unscaled-accumulate-inside-chunk-loop-repaired
# kind: healthy
# forbid: *
# style: inner loop over chunks of one large batch, SGD, mean squared error
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
data = load_diabetes()
inputs = torch.tensor(data.data * 21, dtype=torch.float32)
outputs = torch.tensor((data.target - 152) / 77, dtype=torch.float32).view(-1, 1)
net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
criterion = nn.MSELoss()
# --- cell ---
sgd = torch.optim.SGD(net.parameters(), lr=0.02)
for iteration in range(40):
    rows = torch.randperm(len(inputs))[:256]
    net.zero_grad()
    for chunk in rows.chunk(4):
        chunk_loss = criterion(net(inputs[chunk]), outputs[chunk]) / 4
        chunk_loss.backward()
    sgd.step()
print(chunk_loss.item())
