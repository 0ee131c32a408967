"""An image that is trained by itself is kept in its range in place; a second one gets an optimizer of its own."""

import torch

torch.manual_seed(0)
target = torch.rand(3, 8, 8)
image = torch.rand(3, 8, 8, requires_grad=True)
for restart in range(2):
    opt = torch.optim.Adam([image], lr=0.05)
    for i in range(20):
        opt.zero_grad()
        loss = (image - target).square().mean()
        loss.backward()
        opt.step()
        with torch.no_grad():
            image.clamp_(0, 1)
    image = torch.rand(3, 8, 8, requires_grad=True)
