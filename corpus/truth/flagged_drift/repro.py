"""Prices are stored in cents; the list must come back as it was."""

import math

PRICES = {"tea": 2.5, "mug": 1.1, "pot": 20.205, "lid": 4.0}


def stored(prices):
    return {name: math.floor(price * 100) for name, price in prices.items()}


def loaded(cents):
    return {name: cent / 100 for name, cent in cents.items()}


def compare(before, after):
    is_same = True
    for name, price in before.items():
        if not math.isclose(price, after[name], rel_tol=1e-9):
            print(f"{name}: {price} became {after[name]}")
            is_same = False
    if is_same:
        print("the price list is as it was")
    else:
        print("the price list has drifted")


compare(PRICES, loaded(stored(PRICES)))
