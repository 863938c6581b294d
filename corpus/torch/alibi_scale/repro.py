"""compiled != eager for a decoder block with exponential position bias.

Found while validating a port: the *exported metrics* looked fine for short prompts and went wrong
for prompts from 32 tokens on. Only with dynamic=True. No NaN, the block simply forgets the bias.

We use block floating point for the bias (mantissa * 2**exponent), the exponent follows the length.

  $ python check_block.py
  length   8: max abs 0.0 ok
  length  16: max abs 0.0 ok
  length  40: ...
  AssertionError: Tensor-likes are not close!
"""
import dataclasses
import math
import random
import statistics
import warnings

import numpy as np
import torch
import torch._dynamo
from torch import nn
from torch.nn import functional as F

warnings.simplefilter("once")
torch._dynamo.config.cache_size_limit = 16
torch.backends.mkldnn.enabled = True
torch.set_default_dtype(torch.float32)


def set_seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


@dataclasses.dataclass
class BlockConfig:
    n_embd: int = 32
    n_head: int = 4
    n_inner: int = 96
    layer_norm_epsilon: float = 1e-5
    resid_pdrop: float = 0.0
    attn_pdrop: float = 0.0
    mantissa_bits: int = 6
    activation_function: str = "gelu_new"
    initializer_range: float = 0.2
    use_cache: bool = False
    scale_attn_weights: bool = True

    def to_dict(self):
        return dataclasses.asdict(self)


def gelu_new(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


ACT2FN = {"gelu_new": gelu_new, "relu": F.relu, "silu": F.silu, "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x)}


class BlockFloatBias(nn.Module):
    """bias[i, j] = -slope * (i - j), stored as small mantissas with a common exponent"""

    def __init__(self, config: BlockConfig):
        super().__init__()
        slopes = torch.tensor([2 ** (-8 * (h + 1) / config.n_head) for h in range(config.n_head)])
        self.register_buffer("slopes", slopes)
        self.levels = 2**config.mantissa_bits

    def mantissa(self, length: int) -> torch.Tensor:
        position = torch.arange(length)
        distance = (position[:, None] - position[None, :]).clamp(min=0)
        bias = -self.slopes[:, None, None] * distance
        return (bias * self.levels).round() / self.levels

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        length = hidden.shape[1]
        small = self.mantissa(length) * 2.0**-40
        return small * 2 ** length


class Attention(nn.Module):
    def __init__(self, config: BlockConfig):
        super().__init__()
        self.config = config
        self.head_dim = config.n_embd // config.n_head
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.bias = BlockFloatBias(config)
        self.attn_dropout = nn.Dropout(config.attn_pdrop)

    def _split_heads(self, tensor):
        batch, length, _ = tensor.shape
        return tensor.view(batch, length, self.config.n_head, self.head_dim).permute(0, 2, 1, 3)

    def _merge_heads(self, tensor):
        return tensor.permute(0, 2, 1, 3).flatten(2)

    def forward(self, hidden_states, output_attentions=False):
        query, key, value = (self._split_heads(t) for t in self.c_attn(hidden_states).chunk(3, dim=-1))
        weights = query @ key.transpose(-1, -2)
        if self.config.scale_attn_weights:
            weights = weights / math.sqrt(self.head_dim)
        weights = weights + self.bias(hidden_states)
        length = weights.shape[-1]
        causal = torch.ones(length, length, dtype=torch.bool, device=weights.device).tril()
        weights = weights.masked_fill(~causal, torch.finfo(weights.dtype).min)
        weights = self.attn_dropout(weights.softmax(dim=-1))
        output = self.c_proj(self._merge_heads(weights @ value))
        return (output, weights) if output_attentions else (output, None)


class MLP(nn.Module):
    def __init__(self, config: BlockConfig):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, config.n_inner)
        self.c_proj = nn.Linear(config.n_inner, config.n_embd)
        self.act = ACT2FN[config.activation_function]
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, hidden_states):
        return self.dropout(self.c_proj(self.act(self.c_fc(hidden_states))))


class Block(nn.Module):
    def __init__(self, config: BlockConfig):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = MLP(config)
        self.apply(lambda module: self._init_weights(module, config))

    @staticmethod
    def _init_weights(module, config):
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=config.initializer_range)
            module.bias.data.zero_()

    def forward(self, hidden_states, output_attentions=False):
        residual = hidden_states
        attended, weights = self.attn(self.ln_1(hidden_states), output_attentions)
        hidden_states = residual + attended
        return hidden_states + self.mlp(self.ln_2(hidden_states)), weights


class Stats:
    def __init__(self):
        self.differences = {}

    def add(self, length, wanted, got):
        difference = (wanted - got).abs()
        self.differences.setdefault(length, []).append(difference.max().item())
        return difference

    def line(self, length):
        values = self.differences[length]
        return f"length {length:3d}: max abs {max(values):.2e}, mean {statistics.fmean(values):.2e}"


def relative_error(wanted, got):
    return ((wanted - got).norm() / wanted.norm()).item()


def main():
    set_seed(42)
    config = BlockConfig()
    print(config.to_dict())
    block = Block(config).eval()
    compiled = torch.compile(block, dynamic=True)
    stats = Stats()
    with torch.no_grad():
        for length in (8, 16, 40):
            x = torch.randn(2, length, config.n_embd)
            wanted, _ = block(x, output_attentions=False)
            got, _ = compiled(x, output_attentions=False)
            stats.add(length, wanted, got)
            print(stats.line(length), f"relative {relative_error(wanted, got):.1e}")
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    main()
