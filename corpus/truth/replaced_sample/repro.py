import dataclasses
import statistics


@dataclasses.dataclass
class Sample:
    name: str
    values: list
    unit: str = "mm"

    def mean(self):
        return statistics.mean(self.values)


def annotate(sample, note):
    sample.note = note
    return sample


def converted(sample):
    values = [value / 25.4 for value in sample.values]
    return dataclasses.replace(sample, values=values, unit="in")


sample = annotate(Sample("a7", [10, 12, 11]), "wet")
print(sample.mean(), sample.note)
inches = converted(sample)
print(f"{inches.mean():.3f} {inches.unit} ({inches.note})")
