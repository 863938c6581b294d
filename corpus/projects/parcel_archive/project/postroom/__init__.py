"""Scans of parcels, and archives of them."""
from .config import LIMIT, Depot, depot_named
from .packing import Packer
from .readers import read_scans
from .records import Parcel, Scan

__version__ = "2.3.1"
__all__ = ["LIMIT", "Depot", "Packer", "Parcel", "Scan", "depot_named", "read_scans"]
