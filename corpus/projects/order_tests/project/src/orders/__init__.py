"""Orders of the shop: reading, pricing, storing."""
from .model import Line, Order
from .pricing import Pricing

__all__ = ["Line", "Order", "Pricing"]
