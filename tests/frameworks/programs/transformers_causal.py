"""Hugging Face's Trainer: a causal language model, gradients of four batches, bf16, evaluation each epoch."""

import torch
import transformers
from torch.utils.data import Dataset

transformers.utils.logging.set_verbosity_error()
transformers.set_seed(0)


class Counting(Dataset):
    def __init__(self, start, length):
        self.start, self.length = start, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        index += self.start
        ids = (torch.arange(12 + index % 5) * (1 + index % 3) + index) % 32
        return {"input_ids": ids, "labels": ids.clone()}


def collate(rows):
    longest = max(len(row["input_ids"]) for row in rows)
    padded = {
        "input_ids": [torch.nn.functional.pad(row["input_ids"], (0, longest - len(row["input_ids"]))) for row in rows],
        "labels": [torch.nn.functional.pad(row["labels"], (0, longest - len(row["labels"])), value=-100) for row in rows],
        "attention_mask": [torch.arange(longest) < len(row["input_ids"]) for row in rows],
    }
    return {name: torch.stack(values) for name, values in padded.items()}


train_set, eval_set = Counting(0, 208), Counting(1000, 48)
config = transformers.GPT2Config(
    vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
)
model = transformers.GPT2LMHeadModel(config)
arguments = transformers.TrainingArguments(
    "out",
    num_train_epochs=4,
    per_device_train_batch_size=8,
    per_device_eval_batch_size=16,
    gradient_accumulation_steps=4,
    learning_rate=3e-3,
    warmup_steps=4,
    bf16=True,
    logging_steps=1,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
    seed=0,
)
trainer = transformers.Trainer(
    model, arguments, data_collator=collate, train_dataset=train_set, eval_dataset=eval_set
)
trainer.train()
log = trainer.state.log_history
result = [value.clone() for value in model.state_dict().values()]
