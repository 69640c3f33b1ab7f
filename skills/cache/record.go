package cache

import (
	"math/bits"
	"reflect"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A record is a skill as the file has it: without its location, which the key names,
// and with the fields that a tool has from its skill written once. Tools share most of
// a skill, also its instructions: written for each, they were two thirds of the cache of
// 5,000 skills.
type record struct {
	Skill  skills.Skill
	Shared []uint64 // for each tool, the set of fields that are its skill's
}

// newRecord returns the record of a skill.
func newRecord(s *skills.Skill) record {
	r := record{Skill: withoutPlace(s)}
	for _, tool := range r.Skill.Tools {
		r.Shared = append(r.Shared, takeShared(tool, &r.Skill))
	}
	return r
}

// newSkillEntry returns the entry of a skill with encoded looks.
func newSkillEntry(looks string, s *skills.Skill) (*entry, error) {
	r := newRecord(s)
	e := &entry{looks: looks}
	if len(r.Skill.Instructions) > longText {
		e.text, r.Skill.Instructions = &text{pending: r.Skill.Instructions}, ""
	}
	var err error
	e.value, err = encode(r)
	return e, err
}

// fill sets a skill to that of the entry, at the location that it has. It reports
// whether the entry is one that newSkillEntry makes, and its text is readable; if not,
// the skill is unchanged.
func (e *entry) fill(s *skills.Skill) bool {
	r, err := decode[record](e.value)
	if err != nil || len(r.Shared) != len(r.Skill.Tools) || slices.Contains(r.Skill.Tools, nil) || e.text != nil && !e.text.fill(&r.Skill) {
		return false
	}
	for i, tool := range r.Skill.Tools {
		if !giveShared(tool, &r.Skill, r.Shared[i]) {
			return false
		}
		tool.Of = s
	}
	place(&r.Skill, s)
	*s = r.Skill
	return true
}

// withoutPlace returns a copy of a skill and its tools without their location. The key
// of a package does not name the skill's file in it, which remains.
func withoutPlace(s *skills.Skill) skills.Skill {
	c := *s
	c.Files, c.Source, c.PluginDir, c.Plugin, c.Workspace, c.Trusted, c.Of, c.Stored = nil, "", "", "", "", false, nil, nil
	c.Installed = false
	if c.Dir != "" {
		c.Dir, c.File = "", ""
	}
	c.Tools = slices.Clone(s.Tools)
	for i, tool := range c.Tools {
		without := withoutPlace(tool)
		without.File = tool.File // it may differ from the skill's
		if tool.File == s.File {
			without.File = c.File
		}
		c.Tools[i] = &without
	}
	return c
}

// place gives a skill and its tools the location of another.
func place(s, at *skills.Skill) {
	s.Files, s.Source, s.Dir, s.PluginDir, s.Plugin, s.Workspace, s.Trusted = at.Files, at.Source, at.Dir, at.PluginDir, at.Plugin, at.Workspace, at.Trusted
	s.Installed = at.Installed
	if s.Dir != "" {
		s.File = at.File
	}
	for _, tool := range s.Tools {
		file := tool.File
		place(tool, s)
		if file != "" {
			tool.File = file
		}
	}
}

// sharable are the fields that a tool may have from its skill, as a set.
var sharable = sync.OnceValue(func() (set uint64) {
	t := reflect.TypeFor[skills.Skill]()
	for i := range t.NumField() {
		switch t.Field(i).Name {
		case "Files", "Of", "Stored", "Entry", "Tools": // which are no content, or a tool's own
		default:
			set |= 1 << i
		}
	}
	return set
})

// takeShared clears the fields of a tool that are its skill's, and returns their set.
func takeShared(tool, skill *skills.Skill) (set uint64) {
	t, s := reflect.ValueOf(tool).Elem(), reflect.ValueOf(skill).Elem()
	for i := range eachOf(sharable()) {
		if field := t.Field(i); !field.IsZero() && reflect.DeepEqual(field.Addr().Interface(), s.Field(i).Addr().Interface()) {
			field.SetZero()
			set |= 1 << i
		}
	}
	return set
}

// giveShared sets a set of fields of a tool to its skill's. It reports whether a tool
// may have them from its skill.
func giveShared(tool, skill *skills.Skill, set uint64) bool {
	if set&^sharable() != 0 {
		return false
	}
	t, s := reflect.ValueOf(tool).Elem(), reflect.ValueOf(skill).Elem()
	for i := range eachOf(set) {
		t.Field(i).Set(s.Field(i))
	}
	if tool.Instructions == "" {
		tool.Stored = skill.Stored
	}
	return true
}

// eachOf yields the members of a set.
func eachOf(set uint64) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(bits.TrailingZeros64(set)) {
				return
			}
		}
	}
}
