"""Makes tours of stops, no longer than a van can carry."""
from .. import context

VAN = 16


async def run(pool, stops):
    tours = [[]]
    for stop in stops:
        load = sum(other.crates for other in tours[-1])
        if load + stop.crates > VAN:
            tours.append([])
        tours[-1].append(stop)
    limit = context.tour_limit.get()
    if len(tours) > limit:
        rest = [stop for tour in tours[limit:] for stop in tour]
        tours = tours[:limit]
        tours[-1].extend(rest)
    return tours
