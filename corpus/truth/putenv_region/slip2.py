dict()["REGION"]
