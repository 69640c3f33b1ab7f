package main

import (
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// fetchers returns the fetcher of each kind of source.
func (s *settings) fetchers() map[source.Kind]install.Fetcher {
	return map[source.Kind]install.Fetcher{}
}
