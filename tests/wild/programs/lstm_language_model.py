"""A character model with an LSTM, tied to nothing, trained by truncated backpropagation through time."""

import torch
from torch import nn

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog while seventeen wizards brew a potion of quartz and jade. " * 40
letters = sorted(set(text))
data = torch.tensor([letters.index(letter) for letter in text])


class CharModel(nn.Module):
    def __init__(self, size, width=64):
        super().__init__()
        self.embed = nn.Embedding(size, 32)
        self.rnn = nn.LSTM(32, width, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(width, size)

    def forward(self, ids, state=None):
        out, state = self.rnn(self.embed(ids), state)
        return self.head(self.drop(out)), state


model = CharModel(len(letters))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
rows = data[: len(data) // 16 * 16].view(16, -1)
for epoch in range(10):
    state = None
    for start in range(0, rows.shape[1] - 17, 16):
        ids, targets = rows[:, start : start + 16], rows[:, start + 1 : start + 17]
        if state is not None:
            state = tuple(each.detach() for each in state)
        logits, state = model(ids, state)
        loss = criterion(logits.reshape(-1, len(letters)), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
model.eval()
with torch.no_grad():
    written, state, ids = [], None, rows[:1, :1]
    for _ in range(30):
        logits, state = model(ids, state)
        ids = torch.multinomial(logits[:, -1].softmax(-1), 1)
        written.append(letters[ids.item()])
result = list(model.state_dict().values())
