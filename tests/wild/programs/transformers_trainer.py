"""Hugging Face's Trainer trains a tiny causal language model that begins at random."""

import os
import tempfile
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import transformers
from torch.utils.data import Dataset

warnings.filterwarnings("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.set_seed(0)


class Counting(Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        ids = (torch.arange(16) * (1 + index % 3) + index) % 32
        return {"input_ids": ids, "labels": ids.clone()}


config = transformers.GPT2Config(
    vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
)
model = transformers.GPT2LMHeadModel(config)
with tempfile.TemporaryDirectory() as folder:
    arguments = transformers.TrainingArguments(
        folder,
        num_train_epochs=6,
        per_device_train_batch_size=16,
        learning_rate=3e-3,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        logging_steps=50,
        eval_strategy="epoch",
        warmup_steps=10,
        disable_tqdm=True,
        seed=0,
    )
    trainer = transformers.Trainer(model, arguments, train_dataset=Counting(), eval_dataset=Counting())
    trainer.train()
result = list(model.state_dict().values())
