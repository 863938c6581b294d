import os

open("monday", "w")
os.mkdir("monday")
