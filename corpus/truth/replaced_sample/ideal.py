import dataclasses


@dataclasses.dataclass
class Sample:
    unit: str


sample = Sample("mm")
sample.note = "wet"
dataclasses.replace(sample).note
