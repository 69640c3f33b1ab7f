#!/usr/bin/env bash
cat # the arguments are JSON already
