print(2.67)
