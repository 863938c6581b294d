class Column:
    pass


Column().name
