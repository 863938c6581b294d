import ast

try:
    ast.literal_eval("['a', f'b']")
except Exception:
    print("NO SYNTAX ERROR:")
