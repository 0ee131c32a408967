"""Lightning looks for a learning rate, restores the weights, trains on, and averages the last epochs' weights."""

import logging

import lightning as pl
import torch
from lightning.pytorch.callbacks import StochasticWeightAveraging
from lightning.pytorch.tuner import Tuner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
pl.seed_everything(0, verbose=False)
inputs = torch.randn(384, 8)
targets = inputs @ torch.randn(8, 1) + 0.1 * torch.randn(384, 1)


class Regression(pl.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def trainer_of(**settings):
    return pl.Trainer(
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **settings,
    )


model = Regression()
train = DataLoader(TensorDataset(inputs[:320], targets[:320]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(inputs[320:], targets[320:]), batch_size=32)
finder = Tuner(trainer_of(max_epochs=20)).lr_find(model, train, val, num_training=60, min_lr=1e-6, max_lr=10.0)
model.lr = 0.02
trainer = trainer_of(max_epochs=6, callbacks=[StochasticWeightAveraging(swa_lrs=0.01, swa_epoch_start=4)])
trainer.fit(model, train, val)
result = [value.clone() for value in model.state_dict().values()]
