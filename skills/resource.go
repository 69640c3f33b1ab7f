package skills

import (
	"net/url"
	"slices"
	"strings"
)

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
// is the first skill's that declares it; 256 count, and those of plugins' servers.
func (c *Catalog) Resources() []Declared {
	declared, _ := c.claim()
	return declared
}

// ServerURI returns the URI here of a resource of the plugin's server that a skill belongs to.
// Two servers may have the same URI, and no server has the URIs of another. uri may be a
// template.
func (s *Skill) ServerURI(uri string) string {
	return "plugin://" + (&url.URL{Path: s.Owner().QualifiedName()}).EscapedPath() + "/" + uri
}

// Read returns the skill that reads the resources of a plugin's server to which a URI belongs,
// and the server's own URI; nil is none.
func (c *Catalog) Read(uri string) (reader *Skill, own string) {
	for _, s := range c.Skills {
		if !s.Entry.Reads() {
			continue
		}
		if rest, found := strings.CutPrefix(uri, s.ServerURI("")); found && (reader == nil || len(rest) < len(own)) {
			reader, own = s, rest
		}
	}
	return reader, own
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
			case s.Entry.Reads(): // which nobody else has
				declared = append(declared, Declared{s, r})
			case first != nil || len(owner) == maxCatalogResources:
				unclaimed = append(unclaimed, Unclaimed{Declared{s, r}, first})
			default:
				owner[r.Key()] = s
				declared = append(declared, Declared{s, r})
			}
		}
	}
	return declared, unclaimed
}
