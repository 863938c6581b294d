SALES = {f"shop {number}": 25 for number in range(10)}


def shares(sales):
    total = sum(sales.values())
    return {name: count / total for name, count in sales.items()}


def check(found):
    total = 0.0
    for share in found.values():
        total += share
    assert total == 1.0, f"shares sum to {total!r}"
    return found


def main():
    print(check(shares({"a": 1, "b": 1})))
    print(check(shares(SALES)))


main()
