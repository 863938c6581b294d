print(f"{'title'}: {' pepper'!r}")
