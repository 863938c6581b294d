type.stock
