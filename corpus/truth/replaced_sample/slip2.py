import dataclasses


@dataclasses.dataclass
class Sample:
    unit: str


dataclasses.replace(Sample("mm")).note
