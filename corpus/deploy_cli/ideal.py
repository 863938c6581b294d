import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--quota", help="80% of the node")
parser.print_help()
