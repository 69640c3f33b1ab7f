package python

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxArgv is the maximum number of arguments of one call.
const maxArgv = 10_000

// Argv returns the command line, without the interpreter and the script, that
// gives the script these arguments: values of encoding/json, with [json.Number]
// or float64 for numbers. An argument that is null counts as absent. The error is
// a [*ValueError] where a value is of the wrong type or cannot be expressed.
func (c *CommandLine) Argv(args map[string]any) ([]string, error) {
	for _, name := range givenNames(args) {
		if c.byName[name] == nil {
			return nil, fault(name, "is not an argument of the script")
		}
	}
	path, err := c.path(args)
	if err != nil {
		return nil, err
	}
	if err := checkNames(args, path); err != nil {
		return nil, err
	}
	var argv []string
	for at, l := range path {
		if at > 0 {
			argv = append(argv, l.name[strings.LastIndexByte(l.name, ' ')+1:])
		}
		part, err := (&writer{level: l, args: args, below: path[at+1:], path: path}).write()
		if err != nil {
			return nil, err
		}
		argv = append(argv, part...)
	}
	if len(argv) > maxArgv {
		return nil, fmt.Errorf("the command line has %d arguments, of at most %d", len(argv), maxArgv)
	}
	return argv, nil
}

// givenNames returns the names of the arguments that are not null, sorted.
func givenNames(args map[string]any) []string {
	names := slices.Sorted(maps.Keys(args))
	return slices.DeleteFunc(names, func(name string) bool { return args[name] == nil })
}

// path returns the levels that the arguments choose.
func (c *CommandLine) path(args map[string]any) ([]*level, error) {
	path := []*level{c.top}
	for l := c.top; l.chooser != nil; {
		v := args[l.chooser.name]
		if v == nil && l.must {
			return nil, fault(l.chooser.name, "is required")
		}
		if v == nil {
			break
		}
		name, ok := v.(string)
		at := slices.IndexFunc(l.commands, func(c *level) bool { return c.name == strings.TrimSpace(l.name+" "+name) })
		if !ok || at < 0 {
			return nil, fault(l.chooser.name, "must be the name of a command")
		}
		l = l.commands[at]
		path = append(path, l)
	}
	return path, nil
}

// checkNames refuses arguments of commands that are not chosen, and arguments
// that are missing.
func checkNames(args map[string]any, path []*level) error {
	used := map[string]bool{}
	for _, l := range path {
		if l.chooser != nil {
			used[l.chooser.name] = true
		}
		for _, arg := range l.arguments {
			name := arg.property.name
			used[name] = true
			switch {
			case !arg.required || args[name] != nil:
			case l.name == "":
				return fault(name, "is required")
			default:
				return fault(name, "is required for the command %q", l.name)
			}
		}
	}
	chosen := "the script without a command"
	if name := path[len(path)-1].name; name != "" {
		chosen = fmt.Sprintf("the command %q", name)
	}
	for _, name := range givenNames(args) {
		if !used[name] {
			return fault(name, "is not an argument of %s", chosen)
		}
	}
	return nil
}
