package lock

import "github.com/skillsmcp/skills-mcp/skills/lazyregexp"

// clientFolder are the places of skills in the folders of clients, where other tools
// install: skills, .X/skills and .X/Y/skills, and @owner in each.
var clientFolder = lazyregexp.New(`^(\.[^/]+/([^/]+/)?)?skills/(@[^/]+/)?[^/]+$`)

// InClientFolder reports whether the path of an entry is one that a client reads skills
// from. Only such a path may be adopted: a stranger's lock file names no other folder.
func InClientFolder(entry string) bool { return clientFolder.MatchString(entry) }
