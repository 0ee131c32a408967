# case: target-not-normalised-house-prices-in-euros
# kind: buggy
# expect: target-not-normalised
# allow: loss-not-decreasing, exploding-gradient, update-too-small
# line: error = criterion(self.net(rooms), price)
# style: synthetic house prices of 200000 and more, L1 loss, class
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
houses = torch.randn(500, 6)
prices = (250_000 + 60_000 * (houses @ torch.tensor([0.5, 0.3, 0.2, 0.1, -0.2, 0.4]))).unsqueeze(1)


class PriceModel:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=2e-3)

    def fit(self, epochs, criterion):
        for _ in range(epochs):
            for rows in torch.randperm(500).split(50):
                rooms, price = houses[rows], prices[rows]
                error = criterion(self.net(rooms), price)
                self.opt.zero_grad()
                error.backward()
                self.opt.step()
        return error.item()
# --- cell ---
house_model = PriceModel()
print(house_model.fit(6, nn.L1Loss()))
