"""The memory that a zygote shares with its children, kept so that they copy little of it."""

HUGE = 2 << 20
MADV_COLLAPSE = 25


def tidy(gc):
    """Leaves nothing that is there to the collector of a child."""
    gc.collect()
    gc.freeze()


def gather_pages(libc, ctypes):
    """Has the kernel put the heap into huge pages, where it can: a fork copies the table of the pages, which takes longer
    than the fork has otherwise to do. A page that a child writes to is still copied alone. Linux 6.1 or later. Yields
    after each page."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.split() for line in file]
    for span, rights, *rest in lines:
        if rights == "rw-p" and rest[3:] in ([], ["[heap]"]):
            start, end = (int(each, 16) // HUGE * HUGE for each in span.split("-"))
            start += HUGE
            for page in range(start, end, HUGE):
                libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(HUGE), MADV_COLLAPSE)
                yield True
