from concurrent.futures import ThreadPoolExecutor

readers = ThreadPoolExecutor()
readers.shutdown()
readers.submit(0)
