"""Averages of measurements by station."""
import statistics

STATIONS = {"north": [1.0, 2.0, 3.0], "south": [10.0], "west": [4.0, 6.0]}


def by_station(stations):
    return {name: statistics.mean(values) for name, values in stations.items()}


def overall(stations):
    return statistics.mean(by_station(stations).values())


def check(stations):
    everything = [value for values in stations.values() for value in values]
    assert overall(stations) == statistics.mean(everything), "averages differ"


def main():
    print(sorted(STATIONS))
    check(STATIONS)


main()
