{}["alice"]
