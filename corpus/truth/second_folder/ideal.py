import os

os.mkdir("monday")
os.mkdir("monday")
