"""A variational autoencoder."""

# expect-direction: forward
# expect-op: exp
# expect-cause: exponential overflows


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(4, 6), nn.Linear(3, 4)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        logvar = logvar * 1000
        z = mu + torch.randn_like(mu)
        return self.dec(z), mu, logvar


def vae_loss(recon, x, mu, logvar):
    bce = F.mse_loss(recon, x)
    kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())  # here
    return bce + kld


vae = VAE()
opt = torch.optim.Adam(vae.parameters())
x = torch.randn(16, 4)
for step in range(3):
    recon, mu, logvar = vae(x)
    loss = vae_loss(recon, x, mu, logvar)
    opt.zero_grad()
    loss.backward()
    opt.step()
