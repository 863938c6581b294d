"""Archives the scans of a depot: one text file for each parcel, and an index of them all.

    python archive.py scans.csv --depot north
"""
import argparse
import io
import logging
import sys
from pathlib import Path

import postroom
from postroom import Packer, depot_named, read_scans
from postroom.records import by_parcel
from postroom.summary import *

log = logging.getLogger(__name__)


def parse(arguments):
    parser = argparse.ArgumentParser(description="Archives the scans of a depot.")
    parser.add_argument("scans", type=Path, help="a table of scans, as the scanners write it")
    parser.add_argument("--depot", default="north", help="the depot whose parcels are archived")
    parser.add_argument("--level", type=int, default=None, help="the level of compression")
    parser.add_argument("--limit", type=int, default=postroom.LIMIT, help="parcels in an archive")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING)
    depot = depot_named(options.depot)
    scans = read_scans(options.scans, depot)
    parcels = by_parcel(scans)
    print(f"{depot.title}: {len(scans)} scans of {len(parcels)} parcels")
    target = io.BytesIO()
    packer = Packer(target, depot, level=options.level)
    with packer:
        for parcel in parcels[:options.limit]:
            packer.add(parcel)
    size = len(target.getvalue())
    for line in table(parcels):
        print(line)
    print(f"{packer.count} files, {size} bytes, {share(size, packer.plain):.0%} of the text")
    log.info("archived by postroom %s", postroom.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
