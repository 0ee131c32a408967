"""An image that is trained by itself is assigned anew after each step."""

# expect-line: image = image.detach().clamp(0, 1).requires_grad_()
import torch

torch.manual_seed(0)
target = torch.rand(3, 8, 8)
image = torch.rand(3, 8, 8, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.05)
for i in range(40):
    opt.zero_grad()
    loss = (image - target).square().mean()
    loss.backward()
    opt.step()
    image = image.detach().clamp(0, 1).requires_grad_()
