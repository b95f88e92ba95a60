# Sourced by demo/run and tests/run: sets $python to a Python that is new enough, or says what is missing and exits.
python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "Python 3.11 or newer is needed and none was found: install one (Debian 12 and newer: apt-get install python3 python3-venv)." >&2
  exit 2
fi
