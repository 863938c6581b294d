# merges the access logs of several web servers into one stream, sorted by time, and groups the hits by visit
# boiled down; the "files" are strings now. dies with a ValueError after the first server that has a continuation line
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import datetime, timedelta, timezone
import bisect, gzip, heapq, io, itertools, operator, os.path, sys, textwrap

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
GAP = timedelta(minutes=30)

LOGS = {
    'web1': '''
        100 10.0.0.1 GET /index.html 200
        160 10.0.0.1 GET /style.css 200
        161 10.0.0.1 GET /logo.png 304
        4000 10.0.0.7 GET /index.html 200
        ''',
    'web2': '''
        90 10.0.0.2 GET /index.html 200
        170 10.0.0.1 POST /login 302
          user=guest
          remember=1
        171 10.0.0.1 GET /account 200
        ''',
    'web3': '''
        # rotated
        175 10.0.0.2 GET /missing 404
        5000 10.0.0.2 GET /index.html 200
        ''',
}


class Hit(object):
    __slots__ = 'time', 'address', 'method', 'path', 'status', 'extra'

    def __init__(self, time, address, method, path, status):
        self.time = EPOCH + timedelta(seconds=int(time))
        self.address = address
        self.method, self.path = method, path
        self.status = int(status)
        self.extra = {}

    def __lt__(self, other):
        return self.time < other.time

    def __repr__(self):
        return '<%s %s %s>' % (self.address, self.path, self.status)

    @property
    def ok(self):
        return self.status < 400


class Log(object):
    """Lines of a log, with a look ahead"""

    def __init__(self, name, text):
        self.name = name
        self.file = io.StringIO(textwrap.dedent(text).lstrip())
        self.number = 0
        self.pending = deque()
        self.skipped = 0
        self.lines = self.read()

    def read(self):
        for line in self.file:
            self.number += 1
            line = line.rstrip('\n')
            if not line or line.startswith('#'):
                self.skipped += 1
                continue
            if line.endswith('302'):
                # a redirect: what was posted is on the lines below
                line = line + self.continuation()
            yield line

    def peek(self):
        if not self.pending:
            self.pending.append(next(self.lines, None))
        return self.pending[0]

    def pop(self):
        line = self.peek()
        self.pending.popleft()
        return line

    def continuation(self):
        found = ''
        while True:
            line = self.peek()
            if line is None or not line.startswith(' '):
                return found
            found += ' ' + self.pop().strip()

    def hits(self):
        while self.peek() is not None:
            fields = self.pop().split()
            hit = Hit(*fields[:5])
            hit.extra.update(field.partition('=')[::2] for field in fields[5:])
            yield hit


class Visit(object):
    def __init__(self, first):
        self.hits = [first]

    def accepts(self, hit):
        return hit.time - self.hits[-1].time <= GAP

    def add(self, hit):
        bisect.insort(self.hits, hit)

    def __len__(self):
        return len(self.hits)


def merge(logs):
    'one stream of hits from several'
    return heapq.merge(*[log.hits() for log in logs])


def visits(hits):
    open_visits = OrderedDict()
    for hit in hits:
        visit = open_visits.get(hit.address)
        if visit is not None and visit.accepts(hit):
            visit.add(hit)
            continue
        if visit is not None:
            yield open_visits.pop(hit.address)
        open_visits[hit.address] = Visit(hit)
    yield from open_visits.values()


def chunks(iterable, size):
    iterator = iter(iterable)
    while True:
        chunk = list(itertools.islice(iterator, size))
        if not chunk: return
        yield chunk


def statistics(found):
    by_status, by_path = Counter(), defaultdict(list)
    for visit in found:
        for hit in visit.hits:
            by_status[hit.status] += 1
            by_path[hit.path].append(hit.address)
    return by_status, by_path


def open_log(name, text):
    if os.path.splitext(name)[1] == '.gz':
        text = gzip.decompress(text).decode('ascii')
    return Log(name, text)


if __name__ == '__main__':
    logs = [open_log(name, LOGS[name]) for name in sorted(LOGS)]
    found = []
    for chunk in chunks(visits(merge(logs)), 2):
        found.extend(chunk)
        print(len(found), 'visits so far', file=sys.stderr)
    by_status, by_path = statistics(found)
    for status, count in sorted(by_status.items(), key=operator.itemgetter(1), reverse=True):
        print(status, '*' * count)
    for path, addresses in by_path.items():
        print(path.ljust(20), ', '.join(sorted(set(addresses))))
    print(sum(log.skipped for log in logs), 'lines skipped')
