from dataclasses import dataclass

@dataclass(unsafe_hash=True)
class Place:
    aisle: str
    shelf: int

place = Place("yard", 1)
parcels = {place: "rug"}
place.shelf += 4
parcels.pop(place)
