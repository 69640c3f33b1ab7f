package connect

import (
	"fmt"
	"reflect"
	"strings"
)

// An Entry is how a client starts a server.
type Entry struct {
	Command string // absolute path of a program
	Args    []string
}

// check refuses what the client would read as something else.
func (e Entry) check(c Client) error {
	if !c.expands {
		return nil
	}
	for _, word := range append([]string{e.Command}, e.Args...) {
		if strings.Contains(word, "$") && (c.WorkspaceVariable == "" || word != c.WorkspaceVariable) {
			return fmt.Errorf("%q has a $, which %s replaces; use a path without", word, c.Title)
		}
	}
	return nil
}

// fields are the entry as it is read from a file.
func (e Entry) fields() map[string]any {
	args := make([]any, len(e.Args))
	for i, arg := range e.Args {
		args[i] = arg
	}
	return map[string]any{"command": e.Command, "args": args}
}

// is reports whether what a file has starts the same. What the client or the
// person added to it, as variables or approvals, is theirs.
func (e Entry) is(found any) bool {
	has, ok := found.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range e.fields() {
		if !reflect.DeepEqual(has[key], value) {
			return false
		}
	}
	kind, typed := has["type"]
	return !typed || kind == "stdio"
}

// sameProgram reports whether an entry of a file starts a program of the same
// name, in whatever folder.
func (e Entry) sameProgram(found any) bool {
	has, _ := found.(map[string]any)
	command, _ := has["command"].(string)
	return programName(command) == programName(e.Command)
}

// programName is without folder and ".exe", of paths of every system.
func programName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.TrimSuffix(strings.ToLower(path), ".exe")
}
