package library

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// bracketed returns the name of an argument in brackets: commander takes one without
// for required.
func bracketed(name string) string {
	if name != "" && name[0] != '<' && name[0] != '[' {
		return "<" + name + ">"
	}
	return name
}

// placeholder matches one of "<file>", "[file]", "<files...>".
var placeholder = lazyregexp.New(`^([<\[])(?:\.\.\.)?\s*([^>\]]*?)(?:\.\.\.?)?\s*[>\]]$`)

// positionalsOf returns the positionals of a text such as "<source> [files...]".
func positionalsOf(text string, line int32) (all []*js.Argument) {
	for _, word := range strings.Fields(text) {
		m := placeholder.FindStringSubmatch(word)
		if m == nil {
			continue
		}
		list := strings.Contains(word, "..")
		name, _, _ := strings.Cut(m[2], "|")
		a := &js.Argument{Argument: &cli.Argument{Name: name, Required: m[1] == "<", List: list}, Line: line, Named: true}
		if list && a.Required {
			a.Least = 1
		}
		all = append(all, a)
	}
	return all
}

// flagPart matches the separators of a text with flags.
var flagPart = lazyregexp.New(`[ ,|]+`)

// optionOf returns the option of a text such as "-p, --port <number>"; nil where it has
// no flag.
func optionOf(text string, line int32) *js.Argument {
	var flags []string
	value := ""
	for _, part := range flagPart.Split(strings.TrimSpace(text), -1) {
		switch {
		case strings.HasPrefix(part, "-") && len(part) > 1 && value == "":
			flags = append(flags, part)
		case part != "" && (part[0] == '<' || part[0] == '['):
			value = part
		}
	}
	if len(flags) == 0 || len(flags) > 3 {
		return nil
	}
	if at := strings.IndexAny(text, "<["); at >= 0 {
		value = text[at:]
	}
	a := js.NewOption(line, flags...)
	long := strings.TrimPrefix(a.Flag, "--no-")
	switch {
	case value == "" && long != a.Flag: // --no-color
		a.Kind, a.Inverse, a.Default = cli.Switch, true, true
		a.Name = cli.PropertyName(long)
		a.Flags = append(a.Flags, "--"+long)
	case value == "":
		a.Kind = cli.Switch
	default:
		a.Alone = value[0] == '['
		a.List = strings.Contains(value, "...")
		if !strings.HasPrefix(a.Flag, "--") {
			a.Form = cli.Apart
			if a.Alone {
				a.Form = cli.Glued
			}
		}
	}
	return a
}
