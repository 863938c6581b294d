price, count = 2.67, 1
print(price)
print(round(price * count, 2) > 3)
