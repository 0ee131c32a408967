# case: detached-subgraph-token-embedding-cut-by-detach-repaired
# kind: healthy
# forbid: *
# style: GRU tagger on a synthetic token task
# --- setup ---
import torch
from torch import nn

torch.manual_seed(4)
tokens = torch.randint(1, 40, (512, 12))
parity = (tokens.sum(1) > tokens.float().sum(1).median()).long()


class Tagger(nn.Module):
    def __init__(self, vocab=40, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, 24, batch_first=True)
        self.readout = nn.Linear(24, 2)

    def forward(self, tokens):
        vectors = self.embed(tokens)
        _, last = self.rnn(vectors)
        return self.readout(last.squeeze(0))
# --- cell ---
tagger = Tagger()
opt = torch.optim.Adam(tagger.parameters(), lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(512).split(64):
        logits = tagger(tokens[idx])
        loss = nn.functional.cross_entropy(logits, parity[idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
print(loss.item())
