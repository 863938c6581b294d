"""Reads the class of a ticket off its last letter, whatever the case of the label."""
import textwrap

TICKETS = [
    "Bahnhof Nord, Platz 12, Klasse=A",
    "Schloss, Platz 3, Klasse=B",
    "Weiße Brücke, Platz 7, Klasse=C",
]
PRICES = {"A": 12.0, "B": 9.5, "C": 7.25}


def field(ticket, number):
    return ticket.split(",")[number].strip()


def seat(ticket):
    return int(field(ticket, 1).split()[-1])


def class_of(ticket):
    label = "KLASSE="
    start = ticket.upper().index(label)
    return ticket[start + len(label)]


def row(ticket):
    name = textwrap.shorten(field(ticket, 0), width=10, placeholder="..")
    return f"{name:12} {seat(ticket):3}"


def total(prices):
    amount = sum(prices)
    return f"{amount:.2f}".replace(".", ",")


def main():
    paid = []
    for ticket in TICKETS:
        print(row(ticket))
        paid.append(PRICES[class_of(ticket)])
    print("total:", total(paid))


main()
