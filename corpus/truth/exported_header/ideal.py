import csv

next(csv.DictReader(["\ufeffid,name", "1,lamp"]))["id"]
