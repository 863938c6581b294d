assert 0.5 == 1.0, "shares sum to 0.5"
