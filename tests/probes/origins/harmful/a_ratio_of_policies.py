"""A ratio of two policies whose exponential overflows."""

# expect-direction: forward
# expect-op: exp
# expect-cause: exponential overflows

policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.1)
states, actions = torch.randn(32, 4), torch.randint(0, 2, (32,))
before = torch.full((32,), -120.0)
for epoch in range(3):
    now = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    ratio = (now - before).exp()  # here
    gain = torch.randn(32)
    loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if not loss.isfinite():
        break
