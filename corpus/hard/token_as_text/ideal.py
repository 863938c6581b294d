b"\xe7".decode()
