"""An LSTM whose parameters are all a tenth: its gates part, the units of each gate do not."""

# expect-module: model.cell
import torch
from torch import nn

torch.manual_seed(0)


class Adding(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(2, 12, batch_first=True)
        self.readout = nn.Linear(12, 1)
        for each in self.parameters():
            nn.init.constant_(each, 0.1)

    def forward(self, x):
        return self.readout(self.cell(x)[0][:, -1])


model = Adding()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)

for step in range(30):
    values, marks = torch.rand(32, 8, 1), torch.zeros(32, 8, 1)
    marks[:, 2] = marks[:, 6] = 1
    loss = nn.functional.mse_loss(model(torch.cat([values, marks], -1)), (values * marks).sum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
