package skills

import "slices"

// maxCatalogResources bounds the resources of all skills. Clients receive all of them
// at once.
const maxCatalogResources = 256

// A Declared is a resource, and the skill that has it.
type Declared struct {
	Skill *Skill
	Resource
}

// Resources returns the resources that clients can read, by the names of their
// skills, those of an untrusted workspace last: it takes no URI from another. A URI
// is the first skill's that declares it; 256 count.
func (c *Catalog) Resources() []Declared {
	declared, _ := c.claim()
	return declared
}

// An Unclaimed resource does not count.
type Unclaimed struct {
	Declared
	// By is the skill that has the URI; nil is one resource too many.
	By *Skill
}

// Unclaimed returns the resources that do not count.
func (c *Catalog) Unclaimed() []Unclaimed {
	_, unclaimed := c.claim()
	return unclaimed
}

func (c *Catalog) claim() (declared []Declared, unclaimed []Unclaimed) {
	owner := map[string]*Skill{}
	trusted := slices.DeleteFunc(slices.Clone(c.Skills), (*Skill).Untrusted)
	others := slices.DeleteFunc(slices.Clone(c.Skills), func(s *Skill) bool { return !s.Untrusted() })
	for _, s := range append(trusted, others...) {
		for _, r := range s.Resources {
			first := owner[r.Key()]
			switch {
			case first != nil || len(declared) == maxCatalogResources:
				unclaimed = append(unclaimed, Unclaimed{Declared{s, r}, first})
			default:
				owner[r.Key()] = s
				declared = append(declared, Declared{s, r})
			}
		}
	}
	return declared, unclaimed
}
