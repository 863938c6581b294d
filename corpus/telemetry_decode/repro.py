# -*- coding: utf-8 -*-
# telemetry dump - Ausgabe der Messwerte (Grad Celsius, °C)
# python telemetry.py   -> UnicodeDecodeError since station "Zürich" is in the list
import array, binascii, codecs, struct, sys
import itertools as it; import operator as op
from contextlib import ExitStack, closing, suppress
from io import BytesIO, StringIO

MAGIC = b"TLM1"; VERSION = 3
HEADER = struct.Struct("<4sHHI"); SAMPLE = struct.Struct("<Hhf")
STATIONS = ["Basel", "Bern", "Gen\u00e8ve", "Z\u00fcrich", "Lugano"]
LIMITS = {"low": -40.0, "high": 60.0, "battery": 3.1}
FLAGS = (("ok", 0x01), ("late", 0x02), ("battery", 0x04), ("reboot", 0x08))
verbose = False
errors, frames, seen = [], [], {}

def checksum(data):
	total = 0
	for byte in data: total = (total * 31 + byte) & 0xFFFF
	return total

def flags(value):
	"names of the bits that are set"
	return [name for name, bit in FLAGS if value & bit]

def pack_name(name, size=8):
	raw = name.encode("latin-1", "replace")[:size]
	return raw + b"\0" * (size - len(raw))

def unpack_name(raw):
	raw = bytes(raw)
	with suppress(ValueError):
		raw = raw[:raw.index(b"\0")]
	return codecs.decode(raw, "utf-8")

def make_frame(number, station, samples):
	body = pack_name(station)
	for index, (kelvin, level) in enumerate(samples):
		body += SAMPLE.pack(index, int(kelvin * 10 - 2731.5), level)
	head = HEADER.pack(MAGIC, VERSION, number, len(body))
	return head + body + struct.pack("<H", checksum(body))

def read_frames(stream):
	while True:
		head = stream.read(HEADER.size)
		if len(head) < HEADER.size: break
		magic, version, number, length = HEADER.unpack(head)
		if magic != MAGIC:
			errors.append((number, "magic")); break
		body = stream.read(length); (check,) = struct.unpack("<H", stream.read(2))
		if check != checksum(body):
			errors.append((number, "checksum"))
			continue
		yield number, body

def decode(body):
	name = unpack_name(body[:8])
	rows = []
	for offset in range(8, len(body), SAMPLE.size):
		index, tenth, level = SAMPLE.unpack_from(body, offset)
		rows.append((index, tenth / 10, round(level, 2)))
	return name, rows

def summary(rows):
	temperatures = array.array("d", map(op.itemgetter(1), rows))
	if not temperatures: return None
	low, high = min(temperatures), max(temperatures)
	mean = sum(temperatures) / len(temperatures)
	if low < LIMITS["low"] or high > LIMITS["high"]: errors.append(("range", low, high))
	return low, mean, high

data = b""
for number, station in enumerate(STATIONS, 1):
	samples = [(280 + number + k / 2, 3.0 + k / 10) for k in range(4)]
	data += make_frame(number, station, samples)
	if verbose: print(station, binascii.hexlify(data[-8:]).decode())

output = StringIO()
with ExitStack() as stack:
	stream = stack.enter_context(closing(BytesIO(data)))
	for number, body in read_frames(stream):
		name, rows = decode(body)
		frames.append(number); seen.setdefault(name, []).extend(rows)
		line = "%-10s %5.1f %5.1f %5.1f" % ((name,) + summary(rows))
		print(line, *flags(number), file=output)

for left, right in it.combinations(sorted(seen), 2):
	if seen[left] == seen[right]: print("same values:", left, "=", right, "°C")
sys.stdout.write(output.getvalue())
if errors: sys.exit("%d errors" % len(errors))
