"""Fine-tunes a reader of long contracts; compiling it as one graph fails at the first batch."""
import torch
from torch import nn
from transformers import LongformerConfig, LongformerModel


class ContractReader(nn.Module):
    def __init__(self, config, num_labels):
        super().__init__()
        self.encoder = LongformerModel(config)
        self.head = nn.Linear(config.hidden_size, num_labels)

    def forward(self, input_ids, attention_mask, labels=None):
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        logits = self.head(hidden[:, 0])
        if labels is None:
            return logits
        return nn.functional.cross_entropy(logits, labels), logits


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.losses = []

    def step(self, batch):
        self.optimizer.zero_grad()
        loss, _ = self.model(**batch)
        loss.backward()
        self.optimizer.step()
        self.losses.append(float(loss))
        return loss


def batches(count, vocab, length):
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        ids = torch.randint(0, vocab, (2, length), generator=generator)
        yield {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "labels": torch.tensor([0, 1]),
        }


def main():
    torch.manual_seed(0)
    config = LongformerConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        attention_window=4,
        pad_token_id=1,
    )
    model = ContractReader(config, num_labels=2)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    trainer = Trainer(compiled)
    for batch in batches(3, config.vocab_size, 16):
        loss = trainer.step(batch)
        print("loss", loss.item())


if __name__ == "__main__":
    main()
