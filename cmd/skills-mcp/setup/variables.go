package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/secrets"
)

// environ returns the variables of a configured list. A name without a value gets the
// value from this program's environment, or is omitted.
func environ(entries []string) []string {
	var env []string
	for _, entry := range entries {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		} else if value, set := os.LookupEnv(entry); set {
			env = append(env, entry+"="+value)
		}
	}
	return env
}

// entryNames returns the names of NAME and NAME=value; not nil.
func entryNames(entries []string) []string {
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i], _, _ = strings.Cut(entry, "=")
	}
	return names
}

// grantable are the variables that skills may be granted: those of the configuration,
// and those that a rule names, with the value of this program's environment.
type grantable []string

// Values implements [run.Variables]. The policy decides which names it is asked for.
func (entries grantable) Values(_ context.Context, _ identity.Principal, names []string) ([]string, error) {
	configured := environ(entries)
	var values []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		at := slices.IndexFunc(configured, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if at >= 0 {
			values = append(values, configured[at])
		} else if value, set := os.LookupEnv(name); set && !slices.Contains(entryNames(entries), name) {
			values = append(values, name+"="+value)
		}
	}
	return values, nil
}

// newSecrets returns the person's secrets, beside the store. The keyring of a desktop is
// reached by the bus of its session, which is asked for where there is one: the library
// would start another.
func newSecrets(state string) *secrets.Store {
	dir := filepath.Join(filepath.Dir(state), "secrets")
	options := &secrets.Options{}
	_, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid()))
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || err == nil || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		options.Keyring = secrets.SystemKeyring(dir)
	}
	if runtime.GOOS == "windows" {
		options.Shell = []string{"cmd", "/C"}
	}
	return secrets.New(dir, options)
}

// ownedSecrets are the [run.Secrets] of a store.
type ownedSecrets struct{ *secrets.Store }

// Has implements [run.Secrets].
func (o ownedSecrets) Has(p identity.Principal, name string) bool {
	return o.Store.Has(secrets.Owner(p), name)
}

// Value implements [run.Secrets].
func (o ownedSecrets) Value(ctx context.Context, p identity.Principal, name string, kept bool) (string, error) {
	return o.Store.Value(ctx, secrets.Owner(p), name, kept)
}

// Mask implements [run.Secrets].
func (o ownedSecrets) Mask(value, pattern string) (string, map[string]string, error) {
	return secrets.Mask(value, pattern)
}

// Personal reports whether a flag's values come from this person's environment.
func Personal(flag string, values []string) bool {
	set := os.Getenv(VariableOf(flag))
	return set != "" && set == strings.Join(values, string(filepath.ListSeparator))
}

// VariableOf returns the variable of a flag, with or without its dashes.
func VariableOf(flag string) string {
	return "SKILLS_MCP_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"))
}
