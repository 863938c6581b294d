"""The tours as lines."""
from ..context import current


def _tour(number, tour, plan):
    towns = " - ".join(stop.town for stop in tour)
    km = 2 * max((stop.km for stop in tour), default=0)
    return f"{number:>3}  {plan.depot} - {towns}  {km:.0f} km, {plan.hours(km):.1f} h"


async def run(pool, tours):
    plan = current.get()
    tours = tours or []
    if tours and not isinstance(tours[0], list):
        tours = [[stop] for stop in tours]
    return [_tour(number, tour, plan) for number, tour in enumerate(tours, 1)]
