import sys

done = []
if not done:
    print("NOTHING WAS DONE")
    sys.exit(1)
