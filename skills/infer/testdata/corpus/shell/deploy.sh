#!/usr/bin/env bash
set -e

ENVIRONMENT=""
TAG="latest"
DRY_RUN=false

usage() {
  echo "Usage: deploy.sh --env ENV [--tag TAG] [--dry-run]"
}

while [[ $# -gt 0 ]]; do
  case "$1" in
    -e|--env)
      ENVIRONMENT="$2"
      shift 2
      ;;
    -t|--tag)
      TAG="$2"
      shift 2
      ;;
    --dry-run)
      DRY_RUN=true
      shift
      ;;
    -h|--help)
      usage
      exit 0
      ;;
    *)
      echo "Unknown option: $1" >&2
      usage >&2
      exit 1
      ;;
  esac
done

if [[ -z "$ENVIRONMENT" ]]; then
  usage >&2
  exit 1
fi

if [[ "$DRY_RUN" == true ]]; then
  echo "would deploy $TAG to $ENVIRONMENT"
else
  kubectl -n "$ENVIRONMENT" set image deployment/app app="registry.example.com/app:$TAG"
fi
