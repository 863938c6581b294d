import ast

try:
    ast.literal_eval("['a', f'b']")
except ValueError as error:
    print("NO SYNTAX ERROR:", error)
