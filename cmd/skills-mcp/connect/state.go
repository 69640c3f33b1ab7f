package connect

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// A State is the entry of one name in a client's file.
type State struct {
	// Installed reports that the client has a folder or a file.
	Installed bool
	// Has reports that the file has the entry, Same that it has one for the same program or
	// address. Starts is the program or the address of any other one; "" is none. It has no
	// arguments and no variables, which may be secret.
	Has, Same bool
	Starts    string
}

// State returns the state of a client's file, which it does not change.
func (c Client) State(target Target, name string, e Entry) (State, error) {
	state := State{Installed: exists(target.File) || exists(target.Folder)}
	file, err := open(target)
	if err != nil {
		return state, err
	}
	data, _ := cutMark(file.data)
	all, err := entries(c.format, data)
	if err != nil {
		return state, fmt.Errorf("read %s: %w", file.path, err)
	}
	if all[name] == nil {
		return state, nil
	}
	found := all[name]
	state.Has, state.Same = c.fields(e).is(found), e.same(c, found)
	if !state.Has {
		state.Starts = c.starts(found)
	}
	return state, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// starts returns the program or the address of an entry of a file.
func (c Client) starts(found any) string {
	has, _ := found.(map[string]any)
	if command, ok := has["command"].(string); ok {
		return command
	}
	for _, key := range []string{c.http.key, "url"} {
		if text, ok := has[key].(string); ok {
			to, err := url.Parse(text)
			if err != nil {
				return "an address"
			}
			return strings.TrimPrefix((&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String(), "//")
		}
	}
	return "something else"
}
