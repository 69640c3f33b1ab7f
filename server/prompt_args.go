package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// textArgument is the argument of prompts whose skills name none.
const textArgument = "arguments"

// promptArguments returns the arguments that a person is asked for.
func promptArguments(skill *skills.Skill) []mcp.PromptArgument {
	var all []mcp.PromptArgument
	switch {
	case skill.Entry != nil:
		for _, p := range skill.Entry.Params() {
			all = append(all, mcp.PromptArgument{Name: p.Name, Description: line(p.Help()), Required: p.Required})
		}
	case len(skill.Arguments) > 0:
		for _, name := range skill.Arguments {
			all = append(all, mcp.PromptArgument{Name: name})
		}
	default: // arguments without a placeholder are appended to the text
		all = []mcp.PromptArgument{{Name: textArgument, Description: cmp.Or(line(skill.ArgumentHint), "What the instructions are given.")}}
	}
	return all
}

// picked holds the arguments of a skill that a person has picked: one text for
// instructions, values for a script.
type picked struct {
	text   string
	values map[string]any
}

// pickedBy parses the arguments of a skill's own prompt. Clients send an empty text for
// those that the person left out.
func pickedBy(skill *skills.Skill, given map[string]string) (picked, error) {
	if err := unknown(skill, given); err != nil {
		return picked{}, err
	}
	if skill.Entry == nil {
		return picked{text: cmp.Or(given[textArgument], inOrder(skill.Arguments, given))}, nil
	}
	values := map[string]any{}
	for _, p := range skill.Entry.Params() {
		if text := given[p.Name]; text != "" {
			values[p.Name] = value(skill.Entry, p, text)
		}
	}
	return picked{values: values}, nil
}

// value parses an argument that a person wrote. The arguments of a script that takes any
// command line are written as one.
func value(entry *skills.Entry, p skills.Param, text string) any {
	if _, words := entry.Passing().(skills.RawArgv); !words || p.Schema.Type != "array" {
		return schema.ReadText(entry, p, text)
	}
	items := []any{}
	for _, word := range skills.SplitWords(text) {
		items = append(items, word)
	}
	return items
}

// unknown returns an error if there are arguments that the skill does not name.
func unknown(skill *skills.Skill, given map[string]string) error {
	names := []string{}
	for _, a := range promptArguments(skill) {
		names = append(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(names, name) || skill.Entry == nil && name == textArgument {
			continue
		}
		return &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf("there is no argument %q; there are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))}
	}
	return nil
}

// inOrder joins named arguments into one text. Empty ones stay, so that the others keep
// their positions.
func inOrder(names []string, given map[string]string) string {
	words, last := make([]string, len(names)), 0
	for i, name := range names {
		if words[i] = given[name]; words[i] != "" {
			last = i + 1
		}
	}
	return skills.JoinWords(words[:last])
}

// pickedWith parses the whole input of a skill: a JSON object of its parameters, or the
// value of the only one that it has or needs.
func pickedWith(skill *skills.Skill, text string) (picked, error) {
	if skill.Entry == nil || text == "" {
		return picked{text: text}, nil
	}
	if object, err := decodeObject([]byte(text)); err == nil {
		return picked{values: object}, nil
	}
	p, ok := only(skill.Entry.Params())
	if !ok {
		return picked{}, &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf("%q must be a JSON object with the skill's parameters; get_skill and skills-mcp show %s tell them", textArgument, skill.QualifiedName())}
	}
	return picked{values: map[string]any{p.Name: value(skill.Entry, p, text)}}, nil
}

// only returns the one parameter there is, or the one that is required, or else the words of
// a command line.
func only(params []skills.Param) (p skills.Param, ok bool) {
	if len(params) == 1 {
		return params[0], true
	}
	required := slices.DeleteFunc(slices.Clone(params), func(p skills.Param) bool { return !p.Required })
	if len(required) == 1 {
		return required[0], true
	}
	words := slices.IndexFunc(params, func(p skills.Param) bool { return p.Name == "args" && len(required) == 0 })
	if words < 0 {
		return p, false
	}
	return params[words], true
}
