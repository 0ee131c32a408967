"""An attention mask of minus infinities."""

layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
opt = torch.optim.SGD(layer.parameters(), lr=0.01)
mask = nn.Transformer.generate_square_subsequent_mask(5)
for step in range(3):
    opt.zero_grad()
    layer(torch.randn(4, 5, 8), src_mask=mask).pow(2).mean().backward()
    opt.step()
