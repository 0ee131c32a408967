"""Ignite: the ready-made trainer with gradients of two batches, the ready-made evaluator, and a schedule by event."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(448, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:352], y[:352]), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset(x[352:], y[352:]), batch_size=32)
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
criterion = nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion, gradient_accumulation_steps=2)
evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(criterion)})
losses, validation = [], []


@trainer.on(Events.ITERATION_COMPLETED)
def write_loss(engine):
    losses.append(engine.state.output)


@trainer.on(Events.EPOCH_COMPLETED)
def validate(engine):
    scheduler.step()
    evaluator.run(val_loader)
    validation.append(evaluator.state.metrics["loss"])


trainer.run(train_loader, max_epochs=4)
result = [value.clone() for value in model.state_dict().values()]
