import re
import sys


def numbers(value):
    size = value.numel() if hasattr(value, "numel") else value.size
    found = str(value.tolist()) if size <= 64 else ""
    odd = [word for word in ("nan", "inf") if word in found]
    found = re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", lambda each: "%.4g" % float(each[0]), found)
    shape = str(tuple(getattr(value, "shape", ())))
    return "".join(" with " + word for word in odd) + chr(29) + found + chr(29) + shape


kind = type(value)
text = ascii(value)[:200] if kind.__module__ in plain else kind.__name__
if kind.__module__ not in plain or " at 0x" in text:
    text = kind.__name__
    try:
        text += numbers(value)
    except Exception:
        pass
sys.__stderr__.write(chr(30) + place + chr(31) + text + chr(30) + "\n")
