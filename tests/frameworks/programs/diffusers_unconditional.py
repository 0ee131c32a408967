"""Diffusers: a small UNet learns to tell the noise of images, with its scheduler, its EMA and accelerate."""

import torch
from accelerate import Accelerator
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel
from torch.nn import functional as F
from torch.utils.data import DataLoader

torch.manual_seed(0)
rows, columns = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
pictures = torch.stack([((rows * a + columns * b) % 4 < 2).float() * 2 - 1 for a in range(1, 9) for b in range(8)])
dataset = pictures[:, None].repeat(4, 1, 1, 1)
unet = UNet2DModel(
    sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)  # fmt: skip
noise_scheduler = DDPMScheduler(num_train_timesteps=100)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-3)
loader = DataLoader(dataset, batch_size=16, shuffle=True)
lr_scheduler = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=5, num_training_steps=32)
accelerator = Accelerator(cpu=True)
unet, optimizer, loader, lr_scheduler = accelerator.prepare(unet, optimizer, loader, lr_scheduler)
ema = EMAModel(unet.parameters(), decay=0.95)
losses = []
for epoch in range(2):
    for images in loader:
        noise = torch.randn_like(images)
        steps = torch.randint(0, noise_scheduler.config.num_train_timesteps, (len(images),))
        noisy = noise_scheduler.add_noise(images, noise, steps)
        with accelerator.accumulate(unet):
            guess = unet(noisy, steps, return_dict=False)[0]
            loss = F.mse_loss(guess, noise)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(unet.parameters(), 1.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
        ema.step(unet.parameters())
        losses.append(loss.detach())
losses = [each.item() for each in losses]
ema.store(unet.parameters())
ema.copy_to(unet.parameters())
unet.eval()
with torch.no_grad():
    sample = torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    noise_scheduler.set_timesteps(4)
    for step in noise_scheduler.timesteps:
        sample = noise_scheduler.step(unet(sample, step).sample, step, sample, generator=torch.Generator().manual_seed(2)).prev_sample
ema.restore(unet.parameters())
result = [*(value.clone() for value in unet.state_dict().values()), sample]
