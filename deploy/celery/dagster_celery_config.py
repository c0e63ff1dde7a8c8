"""What the workers read: dagster-celery's app looks for a module of this name. Nothing secret stands in it."""

import os

broker_url = os.environ["BOOKCHUNK_BROKER"]
result_backend = "disabled"
worker_prefetch_multiplier = 1
worker_disable_prefetch = True  # a worker that dies takes no waiting run with it (Redis)
worker_hijack_root_logger = False
