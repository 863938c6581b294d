"""Actor with an optional "refinement" pass, chosen by uncertainty.

Written with an `if` at first (graph break), then with torch.cond as the docs propose. Now:

  torch._dynamo.exc.UncapturedHigherOrderOpError: Cond doesn't work unless it is captured completely ...
  Got Encountered aliasing during higher order op tracing

Eager works.  Python 3.11, torch 2.9.1+cpu
"""

import abc
import dataclasses
import operator
import os
import pickle
import tempfile
from collections import deque
from functools import partial, reduce
from typing import Any, Deque, Generic, Iterator, Tuple, TypeVar

import torch
import torch.nn as nn
from torch.distributions import Categorical
from torch.nn.utils import parameters_to_vector, vector_to_parameters

T = TypeVar("T")
torch.manual_seed(321)
torch.autograd.set_detect_anomaly(False)


# ------------------------------------------------------------------ environment
class Env(abc.ABC):
    @abc.abstractmethod
    def reset(self) -> torch.Tensor: ...

    @abc.abstractmethod
    def step(self, action: int) -> Tuple[torch.Tensor, float, bool]: ...


class Corridor(Env):
    """walk to the right end of a noisy corridor"""

    actions = 3

    def __init__(self, length: int = 8, channels: int = 6) -> None:
        self.length, self.channels = length, channels
        self.where = 0
        self.noise = torch.Generator().manual_seed(length)

    @property
    def observation_size(self) -> int:
        return self.length * self.channels

    def observe(self) -> torch.Tensor:
        x = 0.1 * torch.randn(self.channels, self.length, generator=self.noise)
        x[:, self.where] += 1.0
        return x.flatten()

    def reset(self) -> torch.Tensor:
        self.where = 0
        return self.observe()

    def step(self, action: int) -> Tuple[torch.Tensor, float, bool]:
        self.where = min(max(self.where + action - 1, 0), self.length - 1)
        done = self.where == self.length - 1
        return self.observe(), (1.0 if done else -0.01), done


# ------------------------------------------------------------------ model
class Residual(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.inner(x)


def mlp(*sizes: int, act=nn.SiLU, last=nn.Identity) -> nn.Sequential:
    layers = []
    for number, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layers += [nn.Linear(a, b), act() if number < len(sizes) - 2 else last()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, observation: int, actions: int, width: int = 48, limit: float = 0.9) -> None:
        super().__init__()
        self.encoder = mlp(observation, 2 * width, width, last=nn.LayerNorm if False else nn.Identity)
        self.refiner = nn.Sequential(*(Residual(mlp(width, 2 * width, width)) for _ in range(2)))
        self.policy = nn.Linear(width, actions)
        self.value = mlp(width, width, 1)
        self.uncertainty = nn.Linear(width, 1)
        self.limit = limit

    def refine(self, h: torch.Tensor) -> torch.Tensor:
        return self.refiner(h)

    def keep(self, h: torch.Tensor) -> torch.Tensor:
        return h

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        h = torch.tanh(self.encoder(x))
        doubt = torch.sigmoid(self.uncertainty(h)).mean()
        h = torch.cond(doubt > self.limit, self.refine, self.keep, (h,))
        return self.policy(h).log_softmax(-1), self.value(h).squeeze(-1)


# ------------------------------------------------------------------ training
@dataclasses.dataclass
class Transition:
    observation: torch.Tensor
    action: int
    reward: float
    done: bool
    log_prob: float


class Memory(Generic[T]):
    def __init__(self, size: int) -> None:
        self.items: Deque[T] = deque(maxlen=size)

    def __iadd__(self, item: T) -> "Memory[T]":
        self.items.append(item)
        return self

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def column(self, name: str) -> list:
        return list(map(operator.attrgetter(name), self.items))


class CheckpointManager:
    def __init__(self, keep: int = 2) -> None:
        self.folder = tempfile.mkdtemp(prefix="actor-")
        self.keep, self.paths = keep, deque()

    def save(self, number: int, model: nn.Module, extra: Any) -> None:
        path = os.path.join(self.folder, "%04d.pkl" % number)
        with open(path, "wb") as file:
            pickle.dump({"weights": parameters_to_vector(model.parameters()).detach().numpy(), "extra": extra}, file)
        self.paths.append(path)
        while len(self.paths) > self.keep:
            os.remove(self.paths.popleft())

    def restore(self, model: nn.Module) -> Any:
        with open(self.paths[-1], "rb") as file:
            state = pickle.load(file)
        vector_to_parameters(torch.from_numpy(state["weights"]), model.parameters())
        return state["extra"]


def returns(rewards, dones, gamma=0.97):
    total, out = 0.0, []
    for reward, done in zip(reversed(rewards), reversed(dones)):
        total = reward + gamma * total * (not done)
        out.append(total)
    return torch.tensor(out[::-1])


def play(env: Env, act, steps: int) -> Memory[Transition]:
    memory: Memory[Transition] = Memory(steps)
    observation = env.reset()
    for _ in range(steps):
        log_probs, _ = act(observation.unsqueeze(0))
        action = Categorical(logits=log_probs[0]).sample().item()
        after, reward, done = env.step(action)
        memory += Transition(observation, action, reward, done, log_probs[0, action].item())
        observation = env.reset() if done else after
    return memory


def update(model, run, optimizer, memory, clip=0.2, epochs=2):
    x = torch.stack(memory.column("observation"))
    action = torch.tensor(memory.column("action"))
    old = torch.tensor(memory.column("log_prob"))
    target = returns(memory.column("reward"), memory.column("done"))
    for _ in range(epochs):
        log_probs, value = run(x)
        ratio = (log_probs.gather(1, action[:, None]).squeeze(1) - old).exp()
        advantage = (target - value).detach()
        surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = -surrogate.mean() + 0.5 * (target - value).square().mean() - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main() -> None:
    env = Corridor()
    model = Actor(env.observation_size, env.actions)
    size = reduce(operator.add, (p.numel() for p in model.parameters()))
    print(f"{size} parameters")
    manager = CheckpointManager()
    optimizer = torch.optim.Adam(model.parameters(), 3e-4)
    with torch.inference_mode():
        memory = play(env, model, 32)
    manager.save(0, model, {"reward": sum(memory.column("reward"))})
    run = torch.compile(model, backend="aot_eager")
    with torch.no_grad():
        memory = play(env, partial(run), 32)
    for round_ in range(3):
        print(round_, update(model, run, optimizer, memory))
        manager.save(round_ + 1, model, None)


if __name__ == "__main__":
    main()
