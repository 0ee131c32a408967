# case: not-log-probabilities-nll-of-probabilities-repaired
# kind: healthy
# forbid: *
# style: softmax output with nll_loss; the loss becomes negative
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
questions, key = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10), nn.LogSoftmax(dim=1))
# --- cell ---
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for rows in torch.randperm(len(key)).split(64):
        outputs, answers = model(questions[rows]), key[rows]
        loss = F.nll_loss(outputs, answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
