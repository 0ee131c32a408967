# case: softmax-before-cross-entropy-probs-passed-as-scores
# kind: buggy
# expect: softmax-before-cross-entropy
# line: loss = criterion(probs, label)
# style: probabilities computed in the loop for a metric and reused for the loss
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
x = (x - x.mean(0)) / x.std(0)
loader = DataLoader(TensorDataset(x, torch.tensor(iris.target)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
# --- cell ---
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    correct = 0
    for flower, label in loader:
        logits = model(flower)
        probs = torch.softmax(logits, dim=1)
        loss = criterion(probs, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (probs.argmax(1) == label).sum().item()
    print(epoch, loss.item(), correct / 150)
