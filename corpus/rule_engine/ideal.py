class Node:
    __match_args__ = []

match Node():
    case Node(left):
        pass
