#!/bin/sh
# A worker that takes one run at a time; more words go to Celery (-c 4: four runs at a time, -n NAME@%h: its name).
here=$(cd "$(dirname "$0")" && pwd) || exit
PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python3}" -m celery -A dagster_celery.app worker \
  -Q dagster -c 1 --without-gossip --without-mingle "$@"
