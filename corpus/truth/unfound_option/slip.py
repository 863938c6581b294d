if isinstance(None, str):
    pass
else:
    print("[lost] Retry of the client is gone")
