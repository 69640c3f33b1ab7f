// Package oci fetches skills from OCI registries, and pushes them there: artifacts of one
// layer, an archive with a SKILL.md, as the community of Agent Skills, ToolHive and Alibaba
// Cloud make them.
//
// Start with [New].
package oci

import "github.com/skillsmcp/skills-mcp/skills/install/download"

// Options configure a [Fetcher]. The zero value is usable.
type Options struct {
	// DockerConfig is the host path of the person's Docker configuration, with credentials
	// and helpers that have them; "" is none.
	DockerConfig string
}

// A Fetcher gets and pushes artifacts. Its methods may be called by several goroutines.
type Fetcher struct {
	client  *download.Client
	options Options
}

// New returns a fetcher. The client stays the caller's. Nil options are the defaults.
func New(client *download.Client, options *Options) *Fetcher {
	f := &Fetcher{client: client}
	if options != nil {
		f.options = *options
	}
	return f
}
