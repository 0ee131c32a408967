"""A GRU whose matrices between states are eyes and whose biases are zero: nothing in it is alike."""

import torch
from torch import nn

torch.manual_seed(0)


class Adding(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(2, 12, batch_first=True)
        self.readout = nn.Linear(12, 1)
        with torch.no_grad():
            self.cell.weight_hh_l0.copy_(torch.eye(12).repeat(3, 1))
            self.cell.bias_ih_l0.zero_()
            self.cell.bias_hh_l0.zero_()

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
