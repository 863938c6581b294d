"""Where the parcels of a small warehouse lie, and how often each place was used."""
from dataclasses import dataclass


@dataclass(unsafe_hash=True)
class Place:
    aisle: str
    shelf: int


class Warehouse:
    def __init__(self, aisles):
        self.places = {name: Place(name, 1) for name in aisles}
        self.parcels = {}
        self.visits = {}

    def store(self, parcel, aisle):
        place = self.places[aisle]
        self.parcels[place] = parcel
        self.visits[aisle] = self.visits.get(aisle, 0) + 1
        return place

    def raise_shelves(self, aisle, by):
        self.places[aisle].shelf += by

    def fetch(self, aisle):
        return self.parcels.pop(self.places[aisle])


def label(place):
    return f"{place.aisle.upper()}-{place.shelf:02}"


def busiest(visits):
    return max(sorted(visits), key=visits.get)


def main(lift=4):
    warehouse = Warehouse(["north", "south", "yard"])
    for parcel, aisle in [("lamp", "north"), ("rug", "yard"), ("vase", "south")]:
        print(parcel, "lies at", label(warehouse.store(parcel, aisle)))
    print("busiest:", busiest(warehouse.visits))
    print("fetched", warehouse.fetch("south"))
    warehouse.raise_shelves("yard", lift)
    print("fetched", warehouse.fetch("north"))
    print("fetched", warehouse.fetch("yard"))


main()
