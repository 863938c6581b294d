"""Tables of what was archived."""
from statistics import mean

__all__ = ["share", "table"]

WIDTH = 40


def share(part, whole):
    """A part of a whole, from zero to one."""
    return part / whole if whole else 0.0


def _row(name, *values):
    return f"{name:<12}" + "".join(f"{value:>14}" for value in values)


def table(parcels):
    yield _row("parcel", "scans", "weight")
    yield "-" * WIDTH
    for parcel in parcels:
        yield _row(parcel.name, len(parcel.scans), f"{parcel.weight:.3f}")
    if parcels:
        yield _row("mean", "", f"{mean(parcel.weight for parcel in parcels):.3f}")
