# Colony runs the scripts of skills with bash.
exec python3 "${0%/*}/complexity.py" "$@"
