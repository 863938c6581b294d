"""Texts as the shop exports them."""

HEAD = "order;customer;article;count;price;note\n"


def export(*rows):
    return HEAD + "".join(row + "\n" for row in rows)


SMALL = export(
    "A-1;Ada Meier;tea;2;CHF 3.50;",
    "A-1;Ada Meier;cup;1;11.-;gift",
)
BULK = export(
    "# from the new system",
    "B-7;Basel Tea Ltd;tea;1'200x;CHF 2.90;",
    "B-7;Basel Tea Ltd;samovar;3;CHF 1,150.00;by train",
    "A-2;Ada Meier;pot;1;42.00",
)
