"""Reads the orders and puts those of a town together."""
from collections import defaultdict
from dataclasses import dataclass


@dataclass
class Stop:
    town: str
    km: float
    crates: int = 0


async def run(pool, _):
    stops = {}
    by_town = defaultdict(list)
    for row in pool.orders.rows:
        by_town[row["town"]].append(row)
    for town, rows in by_town.items():
        stops[town] = Stop(town, rows[0]["km"], sum(row["crates"] for row in rows))
    return sorted(stops.values(), key=lambda stop: stop.km)
