"""Ranks the standard replies of a help desk for the questions of a file.

    python rank.py --top 3
"""
import argparse
import sys
import time
from pathlib import Path

import torch

from ranker import ModelConfig, build, evaluate
from ranker.data import batches, load_questions, load_replies

HERE = Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=Path, default=HERE / "questions.txt")
    parser.add_argument("--top", type=int, default=2)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--eager", action="store_true", help="do not compile the model")
    return parser.parse_args()


def main():
    options = arguments()
    torch.manual_seed(options.seed)
    replies = load_replies()
    questions = load_questions(options.questions)
    config = ModelConfig(width=32, heads=4, layers=2, replies=len(replies), longest=12)
    model, vocabulary = build(config, questions + replies)
    model.eval()
    if not options.eager:
        model = torch.compile(model, fullgraph=True)
    started = time.perf_counter()
    for batch in batches(questions, vocabulary, options.batch):
        scores = evaluate(model, batch)
        best = scores.topk(min(options.top, len(replies)), dim=-1)
        for text, indices, values in zip(batch.texts, best.indices, best.values):
            print(text)
            for index, value in zip(indices.tolist(), values.tolist()):
                print(f"  {value:6.3f}  {replies[index]}")
    print(f"{len(questions)} questions in {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
