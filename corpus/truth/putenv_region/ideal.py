import os

os.putenv("REGION", "eu-1")
os.environ["REGION"]
