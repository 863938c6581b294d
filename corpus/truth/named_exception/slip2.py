import ast

try:
    ast.literal_eval("['a', f'b']")
except:
    print("NO SYNTAX ERROR:")
