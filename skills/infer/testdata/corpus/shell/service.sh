#!/bin/bash
case "${1:-}" in
  start)
    docker compose up -d
    ;;
  stop)
    docker compose down
    ;;
  logs)
    docker compose logs --tail 100
    ;;
  *)
    echo "Usage: $0 {start|stop|logs}"
    exit 1
    ;;
esac
