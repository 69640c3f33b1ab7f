package connect

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/tailscale/hujson"
)

// A Hook is a command that Claude Code runs at an event. Its JSON is the one of the settings.
type Hook struct {
	Event   string `json:"-"`
	Matcher string `json:"-"`
	Type    string `json:"type"` // command
	Command string `json:"command"`
	If      string `json:"if,omitempty"` // the permission rule that a call has to match
	Timeout int    `json:"timeout"`      // in seconds
	Async   bool   `json:"async,omitempty"`
}

// A hookGroup is an element in the list of an event.
type hookGroup struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []any  `json:"hooks"`
}

// HookTarget returns the file of Claude Code's hooks: the person's, or in a project's folder
// the one that is the person's alone. code.claude.com/docs/en/settings
func HookTarget(places Places, project string) Target {
	if project != "" {
		return Target{File: filepath.Join(project, ".claude", "settings.local.json"), Within: project}
	}
	return in(claudeCode(places).Folder, "settings.json")
}

// A HookResult describes the edit of the hooks in a file.
type HookResult struct {
	Result
	Added, Removed []Hook
	Snippet        []byte // a file with the wanted hooks only
}

// EditHooks leaves a file with these hooks of a program. Hooks of other programs stay. The
// lists of events that change are written anew, without comments.
func (c Client) EditHooks(target Target, program string, wanted []Hook, opts *Options) (HookResult, error) {
	file, err := open(target)
	if err != nil {
		return HookResult{}, err
	}
	r := HookResult{Result: Result{File: file.path}}
	if r.Snippet, err = r.changed(nil, program, wanted); err != nil {
		return r, err
	}
	data, mark := cutMark(file.data)
	r.Added, r.Removed = nil, nil
	after, err := r.changed(data, program, wanted)
	switch {
	case err != nil:
		return r, fmt.Errorf("edit %s: %w", file.path, err)
	case opts.DryRun || len(r.Added)+len(r.Removed) == 0:
		return r, nil
	}
	if err := c.prepare(target, opts.Force); err != nil {
		return r, err
	}
	r.Backup, err = file.replace(append([]byte(mark), after...))
	r.Changed = err == nil
	return r, err
}

func (r *HookResult) changed(data []byte, program string, wanted []Hook) ([]byte, error) {
	format := jsonFormat{section: "hooks"}
	if _, err := entries(format, data); err != nil {
		return nil, err
	}
	standard, _ := hujson.Standardize(slices.Clone(data)) // it is JSON
	var read struct{ Hooks map[string][]json.RawMessage }
	if err := json.Unmarshal(standard, &read); err != nil && !empty(data) {
		return nil, fmt.Errorf("its hooks are not in the format of Claude Code (%w); fix them by hand", err)
	}
	events := make(map[string][]Hook)
	for event := range read.Hooks {
		events[event] = nil
	}
	for _, h := range wanted {
		events[h.Event] = append(events[h.Event], h)
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		of := events[event]
		groups, mine := withoutHooks(event, read.Hooks[event], program)
		added, removed := missing(of, mine), missing(mine, of)
		if len(added)+len(removed) == 0 {
			continue
		}
		r.Added, r.Removed = append(r.Added, added...), append(r.Removed, removed...)
		for _, h := range of {
			groups = append(groups, hookGroup{h.Matcher, []any{h}})
		}
		after, err := format.put(data, event, groups)
		if len(groups) == 0 {
			after, err = format.remove(data, event)
		}
		if err == nil {
			err = verify(format, data, after, event, func(entry any) bool {
				list, _ := entry.([]any)
				return len(list) == len(groups)
			})
		}
		if err != nil {
			return nil, err
		}
		data = after
	}
	return data, nil
}

// missing returns the hooks of a list that another one has not.
func missing(of, in []Hook) []Hook {
	return slices.DeleteFunc(slices.Clone(of), func(h Hook) bool { return slices.Contains(in, h) })
}

// withoutHooks returns the groups of an event without the hooks that run a program of this
// name, in any folder, and those hooks.
func withoutHooks(event string, groups []json.RawMessage, program string) (rest []any, mine []Hook) {
	for _, group := range groups {
		var read struct {
			Matcher string
			Hooks   []json.RawMessage
		}
		_ = json.Unmarshal(group, &read) // one of another format has no hook of ours
		var left []any
		for _, handler := range read.Hooks {
			h := Hook{Event: event, Matcher: read.Matcher}
			_ = json.Unmarshal(handler, &h)
			if found := hookCommand.FindStringSubmatch(h.Command); found != nil && programName(strings.Trim(found[1], `'"`)) == programName(program) {
				mine = append(mine, h)
			} else {
				left = append(left, handler)
			}
		}
		if len(left) == len(read.Hooks) {
			rest = append(rest, group)
		} else if len(left) > 0 {
			rest = append(rest, hookGroup{read.Matcher, left})
		}
	}
	return rest, mine
}

// hookCommand matches the program of a command line that runs a hook.
var hookCommand = lazyregexp.New(`^((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+) hook `)

// EnabledPlugins returns the plugins in the person's settings of Claude Code, which runs them
// itself where they are true, by NAME@MARKETPLACE; none where the file cannot be read.
func EnabledPlugins(places Places) map[string]any {
	file, err := open(HookTarget(places, ""))
	if err != nil {
		return nil
	}
	data, _ := cutMark(file.data)
	enabled, _ := entries(jsonFormat{section: "enabledPlugins"}, data)
	return enabled
}
