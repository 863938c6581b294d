from datetime import datetime, timezone

max(datetime.now(), datetime.now(timezone.utc))
