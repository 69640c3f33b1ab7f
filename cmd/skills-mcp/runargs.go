package main

import (
	"encoding/json"
	"errors"
	"fmt"
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

// parseRun reads the words after a skill's name: the skill's own parameters,
// and the few options of run.
func parseRun(skill *skills.Skill, words []string) (*runArgs, error) {
	given := &runArgs{params: map[string]any{}}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "--" && takesWords(skill) {
			given.params["args"] = anyWords(words)
			break
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !strings.HasPrefix(word, "--") || name == "" {
			return nil, fmt.Errorf("%q is not an option; parameters of %s are written as --NAME VALUE", word, skill.QualifiedName())
		}
		param := declared(skill, name)
		// A flag stands alone: a boolean's, or one of run's own.
		bare := !joined && (len(words) == 0 || strings.HasPrefix(words[0], "--"))
		next := func() (string, error) {
			switch {
			case joined:
				return value, nil
			case bare:
				return "", fmt.Errorf("--%s needs a value; one that begins with -- is written as --%s=VALUE", name, name)
			}
			value, words = words[0], words[1:]
			return value, nil
		}
		if param == nil || name == "stdin" && bare && takesWords(skill) {
			if own, err := given.option(name, next); own || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		if param == nil {
			if param = spelled(skill, name); param != nil {
				name = param.Name
			}
		}
		if param != nil && param.Schema.Type == "boolean" && !joined && (bare || words[0] != "true" && words[0] != "false") {
			given.params[name] = true
			continue
		}
		text, err := next()
		if err != nil {
			return nil, err
		}
		if err := given.add(skill.Entry, param, name, text); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// takesWords reports whether a skill's script accepts any command line.
func takesWords(skill *skills.Skill) bool {
	if skill.Entry == nil {
		return false
	}
	_, words := skill.Entry.Passing().(skills.RawArgv)
	return words
}

func anyWords(words []string) []any {
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = word
	}
	return list
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
	switch name {
	case "help":
		g.help = true
	case "stdin":
		g.stdin = true
	case "json":
		g.json = true
	case "force":
		g.force = true
	case "out":
		g.out, err = next()
		if err == nil && g.out == "" {
			err = errors.New("--out is empty; name a folder")
		}
		return true, err
	case "timeout":
		text, err := next()
		if err != nil {
			return true, err
		}
		seconds, err := json.Number(text).Float64()
		if err == nil {
			g.timeout, err = skills.Seconds(seconds)
		}
		if err != nil {
			return true, fmt.Errorf("--timeout is %q; write a number of seconds above 0", text)
		}
	case "args-json":
		text, err := next()
		if err != nil {
			return true, err
		}
		value, err := skills.DecodeJSON(text)
		object, ok := value.(map[string]any)
		if err != nil || !ok {
			return true, errors.New("--args-json is not a JSON object")
		}
		for name, value := range object {
			g.params[name] = value
		}
	default:
		return false, nil
	}
	return true, nil
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
