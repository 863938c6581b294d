assert [round(amount, 1) for amount in [0.2, 1.8, 2.6]] == [0.3, 1.8, 2.7], "not rounded up"
