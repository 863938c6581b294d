import heapq

class Patient:
    pass

heapq.heapify([(0, Patient()), (0, Patient())])
