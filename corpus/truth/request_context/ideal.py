import contextvars

request_id = contextvars.ContextVar("request_id")
contextvars.copy_context().run(request_id.set, "req-7")
request_id.get()
