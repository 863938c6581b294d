at = 2.5
while at != 1.0:
    at += 0.1
