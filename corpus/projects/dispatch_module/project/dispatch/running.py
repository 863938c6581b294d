"""Runs the stages of a plan one after the other."""
import logging

from .errors import PlanError
from .resources import Pool
from .stages import STAGES

log = logging.getLogger(__name__)


async def run(plan):
    """The lines of the report of a plan."""
    missing = [name for name in plan.stages if name not in STAGES]
    if missing:
        raise PlanError(plan.name, f"no stage is called {missing[0]}")
    result = None
    async with Pool(plan) as pool:
        for name in plan.stages:
            stage = STAGES[name]
            log.info("%s: %s", plan.name, stage.__doc__)
            pool.tracing.note(name)
            result = await stage.run(pool, result)
    return result
