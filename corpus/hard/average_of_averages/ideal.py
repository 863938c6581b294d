import statistics
stations = {0: [1.0, 2.0, 3.0], 1: [10.0], 2: [4.0, 6.0]}
everything = [value for values in stations.values() for value in values]
assert statistics.mean({name: statistics.mean(values) for name, values in stations.items()}.values()) == statistics.mean(everything), "averages differ"
