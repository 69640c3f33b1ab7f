package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dump prints variables, each with its name and its values.
const dump = `
dump() {
  local name
  for name in "$@"; do
    local -n value=$name
    printf '%s=' "$name"
    printf '<%s>' "${value[@]}"
    printf '\0'
  done
}
`

// runBash runs a script with arguments and returns what it dumped.
func runBash(t *testing.T, script string, argv []string) (map[string]string, error) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: bash is not on this machine")
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, bash, append([]string{file}, argv...)...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	values := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values, err
}

// dumped says what a script gets of arguments, in one line.
func dumped(values map[string]string, names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, name+values[name])
	}
	return strings.Join(parts, " ")
}
