package infer

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// A truth is the command line of a script in the corpus, as its library defines it.
// testdata/corpus/truth/README.md has the format.
type truth struct {
	State string `json:"state"` // arguments, none or unknown
	truthCommand
}

type truthCommand struct {
	Name       string         `json:"name"`
	Aliases    []string       `json:"aliases"`
	Parameters []truthParam   `json:"parameters"`
	Commands   []truthCommand `json:"commands"`
}

type truthParam struct {
	Name        string   `json:"name"`
	Names       []string `json:"names"` // others that mean the same
	Flag        string   `json:"flag"`
	Positional  bool     `json:"positional"`
	Type        string   `json:"type"`   // "any" is one that the source does not determine
	Accept      []string `json:"accept"` // further types that are right
	Array       bool     `json:"array"`
	Required    bool     `json:"required"`
	Enum        []any    `json:"enum"`
	Default     any      `json:"default"`
	Description string   `json:"description"`
	Help        bool     `json:"help"` // prints help or the version: a schema may leave it out

	some bool // not a parameter of every command
}

func readTruth(t *testing.T, path string) truth {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all truth
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all
}

// canonical returns a name without what differs between spellings of it.
func canonical(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

func (p truthParam) named(name string) bool {
	return slices.ContainsFunc(append([]string{p.Name}, p.Names...), func(n string) bool { return canonical(n) == canonical(name) })
}

// accepts reports whether a type of a schema is right for one value of the parameter.
func (p truthParam) accepts(typ string) bool {
	switch {
	case p.Type == typ, p.Type == "any", slices.Contains(p.Accept, typ):
		return true
	}
	return p.Type == "integer" && typ == "number"
}

// flat returns the parameters of a command and of those below it, one for each name.
func (c truthCommand) flat() []truthParam {
	all := slices.Clone(c.Parameters)
	for _, below := range c.Commands {
		for _, p := range below.flat() {
			p.some = true
			i := slices.IndexFunc(all, func(q truthParam) bool { return q.named(p.Name) })
			if i < 0 {
				all = append(all, p)
				continue
			}
			all[i] = merged(all[i], p)
		}
	}
	return all
}

// merged returns a parameter that accepts what either of two of the same name does.
func merged(a, b truthParam) truthParam {
	a.Accept = append(append(slices.Clone(a.Accept), b.Accept...), b.Type)
	if a.Array != b.Array {
		a.Accept = append(a.Accept, "array")
	}
	if len(a.Enum) != len(b.Enum) {
		a.Enum = nil
		a.Accept = append(a.Accept, "enum")
	}
	if a.Description != b.Description {
		a.Description = ""
	}
	if text(a.Default) != text(b.Default) {
		a.Default = nil
		a.Accept = append(a.Accept, "default")
	}
	return a
}

// commandNames returns the names of all commands, with aliases.
func (c truthCommand) commandNames() (names, aliases []string) {
	for _, below := range c.Commands {
		names = append(names, below.Name)
		aliases = append(aliases, below.Aliases...)
		more, moreAliases := below.commandNames()
		names, aliases = append(names, more...), append(aliases, moreAliases...)
	}
	return names, aliases
}
