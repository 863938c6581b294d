weights = []


def read():
    weights.append(150)
    yield


read()
sum(weights) / len(weights)
