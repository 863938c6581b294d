import contextvars

contextvars.ContextVar("request_id").get()
