"""Lightning with manual optimization: two optimizers that take turns, and gradients gathered over two batches."""

import logging

import lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
pl.seed_everything(0, verbose=False)
points = torch.randn(512, 2) * 0.3 + torch.tensor([1.0, -1.0])


class Adversaries(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def training_step(self, batch, index):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        score = nn.functional.binary_cross_entropy_with_logits
        fake = self.generator(torch.randn(len(real), 4))
        guesses = self.critic(real), self.critic(fake.detach())
        d_loss = score(guesses[0], torch.ones(len(real), 1)) + score(guesses[1], torch.zeros(len(real), 1))
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        g_loss = score(self.critic(fake), torch.ones(len(real), 1))
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()
        self.log_dict({"d_loss": d_loss, "g_loss": g_loss})

    def configure_optimizers(self):
        generator = torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
        critic = torch.optim.Adam(self.critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
        return [generator, critic]


class Diary(pl.Callback):
    def __init__(self):
        self.losses = []

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        self.losses.append([trainer.callback_metrics[name].item() for name in ("d_loss", "g_loss")])


model, diary = Adversaries(), Diary()
trainer = pl.Trainer(
    max_epochs=3,
    callbacks=[diary],
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, DataLoader(TensorDataset(points), batch_size=32, shuffle=True, drop_last=True))
result = [value.clone() for value in model.state_dict().values()]
