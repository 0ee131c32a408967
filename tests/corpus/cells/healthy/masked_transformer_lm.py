# case: healthy-masked-transformer-lm
# kind: healthy
# forbid: *
# style: causal transformer encoder with mask, ignore_index padding, label shift
# --- setup ---
import math

import torch
from torch import nn

torch.manual_seed(0)
PAD, VOCAB = 0, 14
starts = torch.randint(1, 8, (500, 1))
seqs = (starts + torch.arange(10)) % 12 + 1
seqs[torch.arange(10) >= torch.randint(5, 11, (500, 1))] = PAD


class LM(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, d, padding_idx=PAD), nn.Embedding(10, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(d, VOCAB)

    def forward(self, x):
        causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        h = self.tok(x) * math.sqrt(32) + self.pos(torch.arange(x.shape[1]))
        return self.head(self.body(h, mask=causal, is_causal=True))


lm = LM()
# --- cell ---
opt = torch.optim.AdamW(lm.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for epoch in range(3):
    for rows in torch.randperm(500).split(50):
        x, t = seqs[rows, :-1], seqs[rows, 1:]
        loss = criterion(lm(x).flatten(0, 1), t.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
        opt.step()
    print(epoch, loss.item())
