price, count = 2.675, 1
print(round(price * count, 2))
