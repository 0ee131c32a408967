# case: healthy-truncated-bptt-lstm-tuple
# kind: healthy
# forbid: *
# style: truncated BPTT, LSTM state repackaged by a helper function, gradient clipping
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
corpus = torch.tensor([ord(c) % 32 for c in "to be or not to be that is the question " * 30])
streams = corpus[: 8 * 150].view(8, 150)


class CharLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.lstm, self.fc = nn.Embedding(32, 16), nn.LSTM(16, 32, batch_first=True), nn.Linear(32, 32)

    def forward(self, x, state=None):
        h, state = self.lstm(self.emb(x), state)
        return self.fc(h), state


def repackage(state):
    return tuple(part.detach() for part in state)
# --- cell ---
model = CharLSTM()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    state = None
    for i in range(0, 140, 10):
        x, y = streams[:, i:i + 10], streams[:, i + 1:i + 11]
        if state is not None:
            state = repackage(state)
        logits, state = model(x, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
    print(epoch, loss.item())
