import os

os.environ["REGION"]
