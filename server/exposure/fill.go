package exposure

import "github.com/skillsmcp/skills-mcp/skills"

// share is the size of whole tools, their parameters included, as a multiple of that of
// their descriptions.
const share = 4

// maxMisses bounds the number of tools that do not fit before the rest is not looked at.
const maxMisses = 40

// A room is the space that is left for tools.
type room struct{ tools, description, whole int }

// roomFor returns the space for the tools of n skills. It is the same up to twice as many
// skills as may be tools: one more skill takes no tool from another. Beyond, it shrinks as
// 1/n, down to 5/6 of Chars for whole tools: the list of tools, with the fixed ones, has to
// stay short for thousands of skills.
func (o Options) roomFor(n int) room {
	whole := share * o.Chars
	if most := 2 * o.MaxTools; n > most {
		whole = max(o.Chars*5/6, whole*most/n)
	}
	return room{o.MaxTools, o.Chars, whole}
}

// fits reports whether a tool fits, and subtracts it if so.
func (left *room) fits(cost Cost) bool {
	if left.tools == 0 || cost.Description > left.description || cost.Whole > left.whole {
		return false
	}
	*left = room{left.tools - 1, left.description - cost.Description, left.whole - cost.Whole}
	return true
}

// fill makes tools of the skills of a ranking, by their turns, while there is room. A tool
// that does not fit costs only itself: smaller ones after it may fit.
func (e *Exposure) fill(list []ranked, cost func(*skills.Skill) Cost) {
	queue, proper := e.line(list)
	if e.options.Mode == All {
		for _, r := range queue {
			e.tools = append(e.tools, r.skill)
		}
		return
	}
	var rest []ranked
	left, full := e.options.roomFor(proper), false
	for i, r := range queue {
		if left.tools == 0 || len(rest) == maxMisses || e.options.Mode == Search && r.level != byPerson {
			rest, full = append(rest, queue[i:]...), true
			break
		}
		costs := cost(r.skill)
		switch {
		case left.fits(costs):
			e.tools = append(e.tools, r.skill)
			e.looked[r.name] = Decision{ByTool, r.reason()}
			continue
		case costs.Whole > e.options.Chars:
			e.looked[r.name] = Decision{BySearch, "its tool alone is larger than expose.catalog_chars"}
		default:
			e.looked[r.name], full = r.omitted(), true
		}
		rest = append(rest, r)
	}
	e.explain(full)
	e.hidden, e.asked = catalogOrder(rest)
}

// explain adds the reason for the tools of skills at byNobody.
func (e *Exposure) explain(full bool) {
	why := "all skills fit"
	if full {
		why = "there is room for it"
	}
	for name, d := range e.looked {
		if d.Why == "" {
			e.looked[name] = Decision{d.Reach, why}
		}
	}
}
