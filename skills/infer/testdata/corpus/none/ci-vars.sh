#!/bin/bash
: "${CI_COMMIT_SHA:?}"
: "${CI_REGISTRY:?}"
image="$CI_REGISTRY/app:${CI_COMMIT_SHA:0:8}"
docker build -t "$image" .
docker push "$image"
