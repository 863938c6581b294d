class Column:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, record, owner):
        return self.name


class Parcel:
    sender = Column()


setattr(Parcel, "updated", Column())
Parcel().updated
