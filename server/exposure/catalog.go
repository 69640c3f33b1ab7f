package exposure

import (
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxListed is the longest name that is listed, in bytes, so that no name takes the
// space of others.
const maxListed = 100

// Catalog lists the skills that are reached by search in at most room bytes, as
// fully as that allows: with their descriptions, with the first words of them,
// by name, or as many names as fit after the number of skills in each plugin. It
// is "" for none. Since it has their number, it changes
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
	return head + named(hidden, room)
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
		if text := oneLine(skill.Description, limit); text != "" {
			b.WriteString(": " + text)
		}
	}
	if long > 0 {
		b.WriteString("\n- " + more(long))
	}
	return b.String()
}

// named lists as many names as fit. If not all do, the plugins come first.
func named(list []*skills.Skill, room int) string {
	if names, shown := fill(list, room-len(" ")); shown == len(list) {
		return " " + strings.Join(names, ", ")
	}
	groups := plugins(list, room/2)
	rest := more(len(list)) // as long as it can be
	names, shown := fill(list, room-len(groups)-len("\n")-len(", ")-len(rest))
	return groups + "\n" + strings.Join(append(names, more(len(list)-shown)), ", ")
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

// plugins returns the number of skills of each plugin, in order of appearance, in at
// most room bytes.
func plugins(list []*skills.Skill, room int) string {
	count := map[string]int{}
	var order []string
	for _, skill := range list {
		if skill.Plugin == "" || len(skill.Plugin) > maxListed {
			continue
		}
		if count[skill.Plugin]++; count[skill.Plugin] == 1 {
			order = append(order, skill.Plugin)
		}
	}
	var b strings.Builder
	for _, plugin := range order {
		next := fmt.Sprintf("\n- %s/: %d", plugin, count[plugin])
		if b.Len()+len(next) > room {
			break
		}
		b.WriteString(next)
	}
	return b.String()
}

// oneLine folds white space and cuts a text to at most limit bytes, between
// characters.
func oneLine(text string, limit int) string {
	if len(text) > 8*limit { // white space folds, but not for ever
		text = strings.ToValidUTF8(text[:8*limit], "")
	}
	return truncate.String(strings.Join(strings.Fields(text), " "), limit)
}
