// Package conduit starts the code of Conduit's plugins as MCP servers: host programs load
// a Python package or an ES module in the sandbox, call its register(api), and serve the
// tools that it registers over standard input and output.
//
// Start with [Command] and [Settings.Env].
package conduit

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// The host programs.
var (
	//go:embed host.py
	python string
	//go:embed host.mjs
	node string
)

// Command returns the command line of the host of a plugin's code, to which the path of the
// package's or the module's file is to be appended. The host reads requests of MCP on
// standard input, and answers on standard output; all that the plugin prints goes to
// standard error.
func Command(code *skills.PluginCode) []string {
	host := []string{"python3", "-c", python}
	if code.Node {
		host = []string{"node", "--input-type=module", "--eval", node}
	}
	return append([]string{"/bin/sh", "-c", `exec "$@" 3>&1 1>&2`, "sh"}, host...)
}

// Settings is a person's configuration of plugins.
type Settings struct {
	// Enabled are the ids of the plugins whose code may run; "*" is all.
	Enabled []string
	// Values has the values of a plugin's keys, by its id. {secret: NAME} is a secret.
	Values map[string]map[string]any
	// Install has the packages installed that servers are started with by npx, uvx and others.
	Install bool
}

// maxValues bounds the configuration of a plugin, in bytes of JSON.
const maxValues = 64 << 10

// variable matches the name of a variable of the environment.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Env returns the environment of a plugin's host, with references ${NAME} to the secrets in
// it. Nothing is configured for the plugins of workspaces, which may be a stranger's. The
// error is for the person who has written the configuration.
func (s *Settings) Env(code *skills.PluginCode, workspace bool) (map[string]string, error) {
	if !slices.Contains(s.Enabled, code.ID) && !slices.Contains(s.Enabled, "*") {
		return nil, fmt.Errorf("its code does not run: plugins.enabled in the configuration does not name %q", code.ID)
	}
	values := map[string]any{}
	if !workspace {
		maps.Copy(values, s.Values[code.ID])
	}
	env, secrets := map[string]string{}, map[string]string{}
	var declared skills.Flags
	for _, p := range code.Settings {
		name, isSecret := secretName(values[p.Name])
		switch _, set := values[p.Name]; {
		case isSecret && p.Schema.Type != "string" && p.Schema.Type != "":
			return nil, fmt.Errorf("plugins.config.%s.%s: a secret is a string, and the plugin wants a value of type %s", code.ID, p.Name, p.Schema.Type)
		case isSecret && !variable.MatchString(name):
			return nil, fmt.Errorf("plugins.config.%s.%s: %.100q cannot be the name of a secret", code.ID, p.Name, name)
		case isSecret:
			secrets[p.Name], env[name] = name, "${"+name+"}"
			delete(values, p.Name)
			continue
		case !set && p.Schema.Default != nil:
			values[p.Name] = p.Schema.Default
		}
		declared = append(declared, p)
		// As in Conduit, such a key names a variable, which the plugin reads itself.
		if name, _ := values[p.Name].(string); strings.HasSuffix(p.Name, "_env") && variable.MatchString(name) {
			env[name] = "${" + name + "}"
		}
	}
	config, err := check(declared, values)
	if err != nil {
		return nil, fmt.Errorf("plugins.config.%s: %w", code.ID, err)
	}
	text, err := json.Marshal(map[string]any{"id": code.ID, "version": code.Version, "config": config, "secrets": secrets})
	if err != nil || len(text) > maxValues {
		return nil, errors.Join(err, fmt.Errorf("plugins.config.%s is larger than %s", code.ID, sandbox.Bytes(maxValues)))
	}
	env["SKILLS_MCP_PLUGIN"] = strings.ReplaceAll(string(text), "$", `\u0024`) // no reference
	return env, nil
}

// secretName returns the name in {secret: NAME}.
func secretName(value any) (string, bool) {
	m, _ := value.(map[string]any)
	name, ok := m["secret"].(string)
	return name, ok && len(m) == 1
}

// check returns the values as encoding/json has them. The error names those that the plugin
// does not accept.
func check(declared skills.Flags, values map[string]any) (map[string]any, error) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(declared, func(p skills.Param) bool { return p.Name == key }) {
			return nil, fmt.Errorf("the plugin's config_schema has no key %q", key)
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	decoded, err := schema.Decode(text)
	if err != nil {
		return nil, err
	}
	config, _ := decoded.(map[string]any)
	return config, schema.New(declared.Schema()).CheckArguments(config)
}
