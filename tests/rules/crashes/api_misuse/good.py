import torch
from torch import nn

torch.manual_seed(0)
inputs, labels = torch.randn(32, 8), torch.randint(0, 4, (32,))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

try:  # the user has an answer to it
    model(inputs).numpy()
except RuntimeError as error:
    print("skipped:", error)

for _ in range(8):
    optimizer.zero_grad()
    loss = nn.CrossEntropyLoss()(model(inputs), labels)
    loss.backward()
    optimizer.step()
