"""Hugging Face's Trainer: a classifier whose encoder is frozen but for small added matrices, with smoothed labels."""

import torch
import transformers
from torch import nn
from torch.utils.data import Dataset

transformers.utils.logging.set_verbosity_error()
transformers.set_seed(0)


class Added(nn.Module):
    """A frozen layer with a product of two thin matrices beside it."""

    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.layer(x) + self.up(self.down(x))


class Sentences(Dataset):
    def __init__(self, number, seed):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(3, 40, (number, 10), generator=generator)
        self.labels = (self.ids > 20).sum(1).gt(4).long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.labels[index]}


config = transformers.BertConfig(
    vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=16, num_labels=2,
)  # fmt: skip
model = transformers.BertForSequenceClassification(config)
for parameter in model.bert.parameters():
    parameter.requires_grad_(False)
for block in model.bert.encoder.layer:
    block.attention.self.query = Added(block.attention.self.query)
    block.attention.self.value = Added(block.attention.self.value)
arguments = transformers.TrainingArguments(
    "out",
    num_train_epochs=3,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=32,
    label_smoothing_factor=0.1,
    learning_rate=5e-3,
    logging_steps=1,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
    seed=0,
)
trainer = transformers.Trainer(
    model, arguments, train_dataset=Sentences(320, 1), eval_dataset=Sentences(64, 2)
)
trainer.train()
log = trainer.state.log_history
result = [value.clone() for value in model.state_dict().values()]
