"""Scores without gradients."""
import torch


@torch.no_grad()
def evaluate(model, batch):
    """The scores of all replies for each question of a batch."""
    logits = model(batch.tokens, batch.mask)
    return torch.log_softmax(logits, dim=-1)
