# case: index-out-of-range-vocabulary-without-padding-slot-repaired
# kind: healthy
# forbid: *
# style: text classifier, ids start at one, table has only as many rows as words
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
sentences = ["good film", "bad film", "very good plot", "very bad acting", "good acting", "bad plot"] * 8
words = sorted({w for s in sentences for w in s.split()})
lookup = {w: i + 1 for i, w in enumerate(words)}
ids = nn.utils.rnn.pad_sequence([torch.tensor([lookup[w] for w in s.split()]) for s in sentences], batch_first=True)
labels = torch.tensor([int("good" in s) for s in sentences])


class BagOfWords(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.emb = nn.Embedding(size, 8, padding_idx=0)
        self.fc = nn.Linear(8, 2)

    def forward(self, tokens):
        return self.fc(self.emb(tokens).mean(1))
# --- cell ---
bow = BagOfWords(len(words) + 1)
opt = torch.optim.Adam(bow.parameters(), lr=0.05)
for epoch in range(20):
    loss = nn.functional.cross_entropy(bow(ids), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
