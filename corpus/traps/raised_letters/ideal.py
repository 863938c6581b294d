ticket = "Weiße Brücke, Klasse=C"
start = ticket.upper().index("KLASSE=")
ticket[start + len("KLASSE=")]
