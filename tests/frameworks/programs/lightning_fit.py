"""Lightning's Trainer: validation, accumulation, clipping, bf16, a schedule by step, and an average of the weights."""

import logging

import lightning as pl
import torch
from lightning.pytorch.callbacks import WeightAveraging
from torch import nn
from torch.optim.swa_utils import get_ema_avg_fn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
pl.seed_everything(0, verbose=False)
images = torch.randn(560, 20)
labels = (images @ torch.randn(20, 4) + 0.3 * torch.randn(560, 4)).argmax(1)


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", nn.functional.cross_entropy(self(x), y))

    def predict_step(self, batch, index):
        return self(batch[0])

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 24)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


class Diary(pl.Callback):
    def __init__(self):
        self.losses, self.validation, self.rates = [], [], []

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        self.losses.append(outputs["loss"].item())

    def on_before_optimizer_step(self, trainer, module, optimizer):
        self.rates.append(optimizer.param_groups[0]["lr"])

    def on_validation_epoch_end(self, trainer, module):
        if not trainer.sanity_checking:
            self.validation.append(trainer.callback_metrics["val_loss"].item())


train = DataLoader(TensorDataset(images[:416], labels[:416]), batch_size=16, shuffle=True)
val = DataLoader(TensorDataset(images[416:], labels[416:]), batch_size=48)
model, diary = Classifier(), Diary()
trainer = pl.Trainer(
    max_epochs=4,
    accumulate_grad_batches=4,
    gradient_clip_val=1.0,
    precision="bf16-mixed",
    callbacks=[diary, WeightAveraging(avg_fn=get_ema_avg_fn(0.9))],
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, train, val)
guesses = trainer.predict(model, DataLoader(val.dataset, 48))  # Lightning makes the loader anew
result = [*(value.clone() for value in model.state_dict().values()), *guesses]
