int("")
