"""Routes support tickets to experts; the loss is printed at every step."""
import torch
from torch import nn
from transformers import SwitchTransformersConfig, SwitchTransformersEncoderModel


class TicketRouter(nn.Module):
    def __init__(self, config, width, num_labels):
        super().__init__()
        self.encoder = SwitchTransformersEncoderModel(config)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, num_labels)

    def forward(self, batch):
        hidden = self.encoder(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
        return self.head(self.dropout(hidden.last_hidden_state[:, 0]))


def batches(count, vocab, length):
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        ids = torch.randint(2, vocab, (2, length), generator=generator)
        yield {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.tensor([0, 1])}


def train(model, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_function = nn.CrossEntropyLoss()
    for batch in batches(steps, 64, 16):
        optimizer.zero_grad()
        loss = loss_function(model(batch), batch["labels"])
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


def main():
    torch.manual_seed(0)
    config = SwitchTransformersConfig(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, num_experts=2, num_sparse_encoder_layers=1)
    model = TicketRouter(config, 16, num_labels=2)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    train(compiled, steps=3)


if __name__ == "__main__":
    main()
