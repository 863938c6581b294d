assert [round(amount, 1) for amount in [0.25, 1.75, 2.65]] == [0.3, 1.8, 2.7], "not rounded up"
