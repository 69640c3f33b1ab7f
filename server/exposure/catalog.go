package exposure

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxListed is the longest name that is listed, in bytes, so that no name takes the
// space of others.
const maxListed = 100

// Catalog lists the skills that are reached by search in at most room bytes, as
// fully as that allows: with their descriptions, with the first words of them,
// by name, or by topic. It is "" for none. Since it has their number, it changes
// whenever a skill comes or goes.
func (e *Exposure) Catalog(room int) string {
	hidden := e.hidden
	if len(hidden) == 0 {
		return ""
	}
	head := fmt.Sprintf("Skills without a tool of their own (%d):", len(hidden))
	room -= len(head)
	for _, limit := range []int{200, 100, 50} {
		if len(hidden)*len("\n- a: b") > room {
			break // no description would fit
		}
		if text := described(hidden, limit); len(text) <= room {
			return head + text
		}
	}
	return head + e.named(room)
}

// more returns the note on n skills that are not listed.
func more(n int) string { return fmt.Sprintf("and %d more", n) }

// described lists skills, one on each line, with at most limit bytes of its
// description.
func described(list []*skills.Skill, limit int) string {
	var b strings.Builder
	long := 0
	for _, skill := range list {
		name := skill.QualifiedName()
		if len(name) > maxListed {
			long++
			continue
		}
		b.WriteString("\n- " + name)
		if text := termtext.Line(skill.Description, limit); text != "" {
			b.WriteString(": " + text)
		}
	}
	if long > 0 {
		b.WriteString("\n- " + more(long))
	}
	return b.String()
}

// named lists the names, if all fit, or else those of skills with a reason and the topics of
// the others. Where these have no topics, it lists as many names as fit.
func (e *Exposure) named(room int) string {
	list := e.hidden
	if names, shown := fill(list, room-len(" ")); shown == len(list) {
		return " " + strings.Join(names, ", ")
	}
	asked, shown := fill(list[:e.asked], room/4)
	first := ""
	if shown > 0 {
		first = " " + strings.Join(asked, ", ")
	}
	if topics := overview(e.topics, room-len(first)); topics != "" {
		return first + topics
	}
	rest := more(len(list)) // as long as it can be
	names, shown := fill(list, room-len("\n")-len(", ")-len(rest))
	return "\n" + strings.Join(append(names, more(len(list)-shown)), ", ")
}

// fill returns as many qualified names as fit into room bytes, with ", " between
// them.
func fill(list []*skills.Skill, room int) (names []string, shown int) {
	for _, skill := range list {
		name := skill.QualifiedName()
		if len(name) > maxListed {
			continue
		}
		if shown > 0 {
			room -= len(", ")
		}
		if room -= len(name); room < 0 {
			break
		}
		names = append(names, name)
		shown++
	}
	return names, shown
}
