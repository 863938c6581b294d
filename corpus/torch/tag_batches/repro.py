"""
Recommender with a ragged history: each user has a list of (item, weight) tensors, one per session.

The scoring function is compiled with fullgraph=True and gets the lists as they are. After a while
    torch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with fullgraph=True.
TORCH_LOGS=recompiles says:  len(sessions) == 3, then 5, then 2 ...
I expected dynamic=True to take care of lengths.
"""

import bisect
import heapq
import logging
import random
import statistics
import time
from typing import Iterator, List, Optional, Tuple, TypedDict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

logging.captureWarnings(True)
logger = logging.getLogger("tags")


class User(TypedDict):
    name: str
    sessions: List[Tensor]
    weights: List[Tensor]
    liked: int


CATALOG = 200
rng = random.Random(0)


def zipf(n: int, size: int) -> List[int]:
    """draws with popularity ~ 1/rank"""
    total, edges = 0.0, []
    for rank in range(1, size + 1):
        total += 1 / rank
        edges.append(total)
    return [bisect.bisect_left(edges, rng.random() * total) for _ in range(n)]


def users(count: int) -> Iterator[User]:
    for number in range(count):
        # 1 to 12 sessions, in another order each time
        lengths = [1 + zipf(1, 9)[0] for _ in range(1 + (number * 5) % 12)]
        sessions = [torch.tensor(zipf(length, CATALOG)) for length in lengths]
        weights = [torch.softmax(torch.arange(len(s), dtype=torch.float32), 0) for s in sessions]
        yield User(name=f"user{number:03d}", sessions=sessions, weights=weights, liked=zipf(1, CATALOG)[0])


def pad(sessions: List[Tensor], width: int = 10, value: float = 0) -> Tensor:
    return torch.stack([F.pad(s, (0, width - len(s)), value=value) for s in sessions])


class SessionEncoder(nn.Module):
    def __init__(self, items: int, size: int) -> None:
        super().__init__()
        self.items = nn.EmbeddingBag(items, size, mode="sum")
        self.decay = nn.Parameter(torch.tensor(0.9))
        self.project = nn.Linear(size, size, bias=False)

    def forward(self, items: Tensor, weights: Tensor) -> Tensor:
        return self.project(self.items(items, per_sample_weights=weights))

    def merge(self, states: Tensor) -> Tensor:
        steps = torch.arange(states.shape[0] - 1, -1, -1, dtype=states.dtype)
        return (states * self.decay.clamp(0, 1).pow(steps).unsqueeze(1)).sum(0)


class CrossLayer(nn.Module):
    def __init__(self, size: int, rank: int) -> None:
        super().__init__()
        self.u, self.v = nn.Linear(size, rank, bias=False), nn.Linear(rank, size)

    def forward(self, x0: Tensor, x: Tensor) -> Tensor:
        return x0 * self.v(self.u(x)) + x


class Recommender(nn.Module):
    def __init__(self, items: int = CATALOG, size: int = 24, layers: int = 2) -> None:
        super().__init__()
        self.encoder = SessionEncoder(items, size)
        self.cross = nn.ModuleList(CrossLayer(size, size // 4) for _ in range(layers))
        self.scale = nn.Parameter(torch.zeros(()))

    def user_vector(self, sessions: List[Tensor], weights: List[Tensor]) -> Tensor:
        states = self.encoder(pad(sessions), pad(weights))
        x0 = x = self.encoder.merge(states)
        for layer in self.cross:
            x = layer(x0, x)
        return F.normalize(x, dim=0)

    def forward(self, sessions: List[Tensor], weights: List[Tensor]) -> Tensor:
        table = F.normalize(self.encoder.items.weight, dim=1)
        return self.scale.exp() * (table @ self.user_vector(sessions, weights))


class Evaluator:
    """hit rate and reciprocal rank"""

    def __init__(self, k: int = 10) -> None:
        self.k, self.ranks, self.seconds = k, [], []

    def add(self, scores: Tensor, liked: int, seconds: float) -> None:
        self.ranks.append(int((scores > scores[liked]).sum()) + 1)
        self.seconds.append(seconds)

    def top(self, scores: Tensor) -> List[Tuple[float, int]]:
        return heapq.nlargest(3, ((s, i) for i, s in enumerate(scores.tolist())))

    def summary(self) -> Optional[str]:
        if not self.ranks:
            return None
        hits = sum(rank <= self.k for rank in self.ranks) / len(self.ranks)
        mrr = statistics.fmean(1 / rank for rank in self.ranks)
        return f"hit@{self.k} {hits:.2f}  mrr {mrr:.3f}  {1000 * statistics.median(self.seconds):.2f} ms/user"


def fit(model: Recommender, data: List[User], epochs: int) -> None:
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        losses = []
        for user in rng.sample(data, k=len(data) // 2):
            loss = F.cross_entropy(model(user["sessions"], user["weights"]), torch.tensor(user["liked"]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        logger.info("epoch %d: %.4f", epoch, statistics.fmean(losses))


def evaluate(score, data: List[User]) -> Evaluator:
    evaluator = Evaluator()
    for user in data:
        begin = time.perf_counter()
        with torch.no_grad():
            scores = score(user["sessions"], user["weights"])
        evaluator.add(scores, user["liked"], time.perf_counter() - begin)
    return evaluator


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(99)
    data = list(users(24))
    logger.info("sessions per user: %s", sorted({len(user["sessions"]) for user in data}))
    model = Recommender()
    fit(model, data, epochs=1)
    logger.info("eager    %s", evaluate(model, data).summary())
    serve = torch.compile(model, backend="aot_eager", dynamic=True, fullgraph=True)
    logger.info("compiled %s", evaluate(serve, data).summary())
    for user in data[:2]:
        print(user["name"], Evaluator().top(serve(user["sessions"], user["weights"])))


if __name__ == "__main__":
    main()
