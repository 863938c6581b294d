import struct

PRICES = {"pen": 1.25, "book": 19.99, "lamp": 0.1}


def pack(prices):
    return b"".join(struct.pack("<f", price) for price in prices.values())


def unpack(data):
    return [struct.unpack_from("<f", data, at)[0] for at in range(0, len(data), 4)]


def main():
    data = pack(PRICES)
    for (name, price), back in zip(PRICES.items(), unpack(data)):
        if back != price:
            print("MISMATCH", name, price, back)


main()
