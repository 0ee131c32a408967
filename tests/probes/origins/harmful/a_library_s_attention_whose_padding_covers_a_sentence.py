"""A library's attention whose padding covers a sentence."""

# expect-direction: forward
# expect-op: _softmax | softmax
# expect-cause: softmax over a row of minus infinities
# expect-module: attention

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

attention = nn.MultiheadAttention(8, 2, batch_first=True)
opt = torch.optim.SGD(attention.parameters(), lr=0.01)
words, padding = torch.randn(4, 5, 8), torch.zeros(4, 5, dtype=torch.bool)
padding[1] = True
for step in range(3):
    opt.zero_grad()
    out, weights = attention(words, words, words, key_padding_mask=padding)  # here
    loss = out.pow(2).mean()
    loss.backward()
    opt.step()
