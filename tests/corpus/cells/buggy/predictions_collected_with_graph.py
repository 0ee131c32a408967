# case: retained-graph-leak-predictions-collected-with-graph
# kind: buggy
# expect: retained-graph-leak
# line: self.outputs.append(prediction)
# style: trainer object gathers training predictions for an epoch metric
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
a, b = load_diabetes(return_X_y=True)
a = torch.tensor(a * 21).float()
b = torch.tensor((b - b.mean()) / b.std()).float().unsqueeze(1)


class Runner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        self.outputs = []

    def training_step(self, batch):
        x, y = batch
        prediction = self.model(x)
        self.outputs.append(prediction)
        return nn.functional.mse_loss(prediction, y)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            for batch in loader:
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return torch.cat(self.outputs).std().item()
# --- cell ---
runner = Runner(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1)))
print("spread", runner.fit(DataLoader(TensorDataset(a, b), batch_size=64, shuffle=True), epochs=6))
