package surface

import "github.com/skillsmcp/skills-mcp/skills"

// A Change is a capability that one of two surfaces has and the other lacks.
type Change struct {
	Item
	// Gone reports that the later surface lacks it.
	Gone bool `json:"gone,omitempty"`
}

// String returns the change as a line for people and models, such as
// "+ runs a shell command: git (scripts/release.sh:12)". A stranger's characters that
// are invisible or control a terminal are codes.
func (c Change) String() string {
	sign := "+ "
	if c.Gone {
		sign = "- "
	}
	return sign + c.Item.String()
}

// Declared returns the capabilities that a skill and its tools declare in order to be given
// them: what a safe skill that declares nothing lacks.
func Declared(skill *skills.Skill) []Change {
	var all []Change
	for _, item := range collectDeclared(skill.Owner()).surface().Items {
		switch item.Kind {
		case Class, Host, Variable, Asks, Calls:
			if item.Value != "" {
				all = append(all, Change{Item: item})
			}
		}
	}
	return all
}

// Grown returns the capabilities that s has and since lacks, in the order of the kinds;
// none if nothing was gained. A nil since has none.
func (s *Surface) Grown(since *Surface) []Change {
	if since == nil {
		since = &Surface{}
	}
	had := since.index()
	var grown []Change
	for _, item := range s.Items {
		if !had.has(item) {
			grown = append(grown, Change{Item: item})
		}
	}
	if item, ok := s.redescribed(since); ok {
		grown = append(grown, Change{Item: item})
	}
	return grown
}

// Diff returns what s has gained and then what it has lost since another surface.
func (s *Surface) Diff(since *Surface) []Change {
	all := s.Grown(since)
	has := s.index()
	for _, item := range since.Items {
		if !has.has(item) {
			all = append(all, Change{item, true})
		}
	}
	return all
}

// An index finds items by their identity.
type index map[string]bool

func (s *Surface) index() index {
	all := make(index, 2*len(s.Items))
	for _, item := range s.Items {
		all[item.key()] = true
		if item.given() {
			all[item.key()+"\x01"] = true
		}
		if item.Digest != "" {
			all[string(item.Kind)+"\x01"+item.Digest] = true
		}
	}
	return all
}

// given reports whether an item is a variable that the skill is given because it declares
// it, which is more than to name it in its code.
func (i Item) given() bool { return i.Kind == Variable && i.File == "" }

// has reports whether an item is no gain. A file that is the item is the same if its
// content is; one that can be read is also the same under its name, since its content
// has items of its own.
func (x index) has(item Item) bool {
	switch {
	case item.given():
		return x[item.key()+"\x01"]
	case item.Digest == "":
		return x[item.key()]
	}
	return x[string(item.Kind)+"\x01"+item.Digest] || item.Kind == Script && x[item.key()]
}

// redescribed returns the item of a description that is no correction of the one
// before: most of its words are new.
func (s *Surface) redescribed(since *Surface) (Item, bool) {
	now, before := s.text(DescriptionText), since.text(DescriptionText)
	if before == nil || now == nil || now.Digest == before.Digest {
		return Item{}, false
	}
	had := map[string]bool{}
	for _, word := range words(before.Content) {
		had[word] = true
	}
	all, fresh := 0, 0
	for _, word := range words(now.Content) {
		all++
		if !had[word] {
			fresh++
		}
	}
	if fresh < minNewWords || 2*fresh <= all {
		return Item{}, false
	}
	return Item{Kind: Description, Value: "description", Text: passage(now.Content)}, true
}

// minNewWords is the number of new words below which a description was only corrected.
const minNewWords = 6

// text returns a text by its name, or nil.
func (s *Surface) text(name string) *Text {
	for i := range s.Texts {
		if s.Texts[i].Name == name {
			return &s.Texts[i]
		}
	}
	return nil
}
