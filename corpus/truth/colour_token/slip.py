verb, shape, colour = "fill", "line"
