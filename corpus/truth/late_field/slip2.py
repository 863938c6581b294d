class Column:
    def __set_name__(self, owner, name):
        self.name = name


Column().name
