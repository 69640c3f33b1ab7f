package main

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

// runArgs are the parsed words after a skill's name.
type runArgs struct {
	params                   map[string]any
	help, stdin, json, force bool
	out                      string // a folder; "" is none
	timeout                  time.Duration
}

// parseRun parses the words after a skill's name: the skill's own parameters,
// and the few options of run.
func parseRun(skill *skills.Skill, words []string) (*runArgs, error) {
	p := &runParser{skill, words, &runArgs{params: map[string]any{}}}
	for len(p.words) > 0 {
		word := p.words[0]
		p.words = p.words[1:]
		if word == "--" && takesWords(skill) {
			list := []any{}
			for _, word := range p.words {
				list = append(list, word)
			}
			p.given.params["args"] = list
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

// A runParser parses the words after a skill's name.
type runParser struct {
	skill *skills.Skill
	words []string // not parsed yet
	given *runArgs
}

// A runOption is one --NAME, or --NAME=VALUE if joined.
type runOption struct {
	name, value string
	joined      bool
}

// option parses an option, with its value from the words if it needs one.
func (p *runParser) option(o runOption) error {
	param := declared(p.skill, o.name)
	if param == nil || o.name == "stdin" && p.bare(o) && takesWords(p.skill) {
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
		p.given.params[o.name] = true
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

// takesWords reports whether a skill's script accepts any command line.
func takesWords(skill *skills.Skill) bool {
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
func (g *runArgs) option(name string, next func() (string, error)) (own bool, err error) {
	if set := map[string]*bool{"help": &g.help, "stdin": &g.stdin, "json": &g.json, "force": &g.force}[name]; set != nil {
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

func (g *runArgs) setOut(text string) error {
	g.out = text
	if text == "" {
		return errors.New("--out is empty; name a folder")
	}
	return nil
}

func (g *runArgs) setTimeout(text string) error {
	seconds, err := json.Number(text).Float64()
	if err == nil {
		g.timeout, err = skills.Seconds(seconds)
	}
	if err != nil {
		return fmt.Errorf("--timeout is %q; write a number of seconds above 0", text)
	}
	return nil
}

// setParams adds the parameters of --args-json.
func (g *runArgs) setParams(text string) error {
	value, err := skills.DecodeJSON(text)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return errors.New("--args-json is not a JSON object")
	}
	maps.Copy(g.params, object)
	return nil
}

// add parses the text of an option as a value of its parameter. An array is given
// whole or item by item.
func (g *runArgs) add(entry *skills.Entry, param *skills.Param, name, text string) error {
	if param == nil {
		g.params[name] = text
		return nil
	}
	value := schema.ReadText(entry, *param, text)
	before, twice := g.params[name]
	if more, array := value.([]any); array && param.Schema.Type == "array" {
		items, _ := before.([]any)
		g.params[name] = append(items, more...)
		return nil
	}
	if twice {
		return fmt.Errorf("--%s is given twice", name)
	}
	g.params[name] = value
	return nil
}
