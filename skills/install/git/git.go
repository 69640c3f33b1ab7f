// Package git fetches skills from Git repositories with the person's own git program and
// credentials. Nothing of a repository is checked out or run: files are read from the
// object database, so hooks, filters, attributes and submodules have no effect.
//
// Start with [New].
package git

import (
	"cmp"
	"net/netip"
	"time"
)

// Options configure a [Fetcher]. The zero value uses the git of PATH and no variables.
type Options struct {
	Program string // git; "" is the one of PATH
	// Env is the person's environment, as os.Environ returns it. Variables with which
	// git would run or read something else are left out.
	Env []string
	// Terminal lets git and ssh ask the person on the terminal of this process.
	Terminal bool
	// Public reports whether an address is of the public internet. Others are reached
	// only if the person named them; nil says yes.
	Public func(netip.Addr) bool
	// Idle bounds the time in which nothing comes; 0 is 60 s.
	Idle time.Duration
}

// A Fetcher fetches Git repositories.
type Fetcher struct{ options Options }

// New returns a fetcher. Nil options are the defaults.
func New(options *Options) *Fetcher {
	f := &Fetcher{}
	if options != nil {
		f.options = *options
	}
	f.options.Program = cmp.Or(f.options.Program, "git")
	f.options.Idle = cmp.Or(f.options.Idle, time.Minute)
	return f
}
