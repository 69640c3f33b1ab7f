// Package invocation parses the words after the name of a skill that is run, and writes the
// files that it leaves.
//
// Start with [Parse].
package invocation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// RunArgs are the parsed words after a skill's name.
type RunArgs struct {
	Params                   map[string]any
	Help, Stdin, Json, force bool
	out                      string // a folder; "" is none
	Timeout                  time.Duration
}

// Parse parses the words after a skill's name: the skill's own parameters,
// and the few options of run.
func Parse(skill *skills.Skill, words []string) (*RunArgs, error) {
	p := &runParser{skill, words, &RunArgs{Params: map[string]any{}}}
	for len(p.words) > 0 {
		word := p.words[0]
		p.words = p.words[1:]
		if word == "--" && TakesWords(skill) {
			list := []any{}
			for _, word := range p.words {
				list = append(list, word)
			}
			p.given.Params["args"] = list
			break
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !strings.HasPrefix(word, "--") || name == "" {
			return nil, fmt.Errorf("%q is not an option; parameters of %s are written as --NAME VALUE", word, skill.QualifiedName())
		}
		if err := p.option(runOption{name, value, joined}); err != nil {
			return nil, err
		}
	}
	return p.given, nil
}

// Takes reports whether run has an option of this name, which it reads unless the skill has
// a parameter of the name.
func Takes(name string) bool {
	own, _ := (&RunArgs{}).option(name, func() (string, error) { return "", nil })
	return own
}

// A runParser parses the words after a skill's name.
type runParser struct {
	skill *skills.Skill
	words []string // not parsed yet
	given *RunArgs
}

// A runOption is one --NAME, or --NAME=VALUE if joined.
type runOption struct {
	name, value string
	joined      bool
}

// option parses an option, with its value from the words if it needs one.
func (p *runParser) option(o runOption) error {
	param := declared(p.skill, o.name)
	if param == nil || o.name == "stdin" && p.bare(o) && TakesWords(p.skill) {
		if own, err := p.given.option(o.name, func() (string, error) { return p.value(o) }); own || err != nil {
			return err
		}
	}
	if param == nil {
		if param = spelled(p.skill, o.name); param != nil {
			o.name = param.Name
		}
	}
	if param != nil && param.Schema.Type == "boolean" && !o.joined && (p.bare(o) || p.words[0] != "true" && p.words[0] != "false") {
		p.given.Params[o.name] = true
		return nil
	}
	text, err := p.value(o)
	if err != nil {
		return err
	}
	return p.given.add(p.skill.Entry, param, o.name, text)
}

// bare reports whether an option has no value: a boolean's, or one of run's own.
func (p *runParser) bare(o runOption) bool {
	return !o.joined && (len(p.words) == 0 || strings.HasPrefix(p.words[0], "--"))
}

// value returns the value of an option, which may be the next word.
func (p *runParser) value(o runOption) (string, error) {
	switch {
	case o.joined:
		return o.value, nil
	case p.bare(o):
		return "", fmt.Errorf("--%s needs a value; one that begins with -- is written as --%s=VALUE", o.name, o.name)
	}
	text := p.words[0]
	p.words = p.words[1:]
	return text, nil
}

// TakesWords reports whether a skill's script accepts any command line.
func TakesWords(skill *skills.Skill) bool {
	if skill.Entry == nil {
		return false
	}
	_, words := skill.Entry.Passing().(skills.RawArgv)
	return words
}

func declared(skill *skills.Skill, name string) *skills.Param {
	if skill.Entry == nil {
		return nil
	}
	for _, p := range skill.Entry.Params() {
		if p.Name == name {
			return &p
		}
	}
	return nil
}

// spelled returns the parameter a_b for the option --a-b of a script's own parser. It
// returns nil for a script without one, to which undeclared names are passed on.
func spelled(skill *skills.Skill, name string) *skills.Param {
	if skill.Entry == nil {
		return nil
	}
	if _, static := skill.Entry.Passing().(skills.ParsedCLI); !static {
		return nil
	}
	return declared(skill, strings.ReplaceAll(name, "-", "_"))
}

// option parses one of run's own options; own is false for any other.
func (g *RunArgs) option(name string, next func() (string, error)) (own bool, err error) {
	if set := map[string]*bool{"help": &g.Help, "stdin": &g.Stdin, "json": &g.Json, "force": &g.force}[name]; set != nil {
		*set = true
		return true, nil
	}
	set := map[string]func(text string) error{"out": g.setOut, "timeout": g.setTimeout, "args-json": g.setParams}[name]
	if set == nil {
		return false, nil
	}
	text, err := next()
	if err == nil {
		err = set(text)
	}
	return true, err
}

func (g *RunArgs) setOut(text string) error {
	g.out = text
	if text == "" {
		return errors.New("--out is empty; name a folder")
	}
	return nil
}

func (g *RunArgs) setTimeout(text string) error {
	seconds, err := json.Number(text).Float64()
	if err == nil {
		g.Timeout, err = skills.Seconds(seconds)
	}
	if err != nil {
		return fmt.Errorf("--timeout is %q; write a number of seconds above 0", text)
	}
	return nil
}

// setParams adds the parameters of --args-json.
func (g *RunArgs) setParams(text string) error {
	value, err := skills.DecodeJSON(text)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return errors.New("--args-json is not a JSON object")
	}
	maps.Copy(g.Params, object)
	return nil
}

// add parses the text of an option as a value of its parameter. An array is given
// whole or item by item.
func (g *RunArgs) add(entry *skills.Entry, param *skills.Param, name, text string) error {
	if param == nil {
		g.Params[name] = text
		return nil
	}
	value := schema.ReadText(entry, *param, text)
	before, twice := g.Params[name]
	if more, array := value.([]any); array && param.Schema.Type == "array" {
		items, _ := before.([]any)
		g.Params[name] = append(items, more...)
		return nil
	}
	if twice {
		return fmt.Errorf("--%s is given twice", name)
	}
	g.Params[name] = value
	return nil
}
