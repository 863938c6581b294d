{}["Port"]
