# case: healthy-weight-tied-language-model
# kind: healthy
# forbid: *
# style: causal language model, output weight tied to the embedding
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
text = "she sells sea shells by the sea shore and the shells she sells are sea shells " * 12
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])


class TiedLM(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, x):
        return self.lm_head(self.rnn(self.wte(x))[0])


lm = TiedLM(len(chars))
# --- cell ---
opt = torch.optim.AdamW(lm.parameters(), lr=1e-2)
for step in range(80):
    start = torch.randint(0, len(ids) - 33, (16,))
    chunk = torch.stack([ids[s:s + 33] for s in start])
    logits = lm(chunk[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, len(chars)), chunk[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
