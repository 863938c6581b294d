at = 0.0
while at != 1.0:
    at += 0.1
