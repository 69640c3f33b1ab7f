// Package oci fetches skills from OCI registries, and pushes them there: the artifacts
// of the Agent Skills community, of ToolHive and of Alibaba Cloud, catalogs of them, and
// images with a SKILL.md.
//
// Start with [New].
package oci

import (
	"cmp"
	"net/http"
	"net/netip"
	"time"
)

// Options configure a [Fetcher]. The zero value is usable.
type Options struct {
	// DockerConfig is the host path of the person's Docker configuration, with credentials
	// and helpers that have them; "" is none.
	DockerConfig string
	// Public reports whether an address is of the public internet. Others are reached only
	// if the person named their host, or if the registry that the person named is itself
	// at such an address; nil refuses none.
	Public func(netip.Addr) bool
	// Transport makes the connections; nil is one with the system's certificates and proxy
	// variables. Its DialContext is not used.
	Transport *http.Transport
	// UserAgent names this program and its version.
	UserAgent string
	// Idle bounds the time without a byte; 0 is 30 s. Slow bounds a whole fetch or push;
	// 0 is 10 min.
	Idle, Slow time.Duration
	// MaxWait bounds how long a Retry-After is obeyed; 0 is 60 s. A longer one is an error
	// that states it.
	MaxWait time.Duration
}

// The bounds of an artifact, checked before the bytes that they count are read.
const (
	maxManifest = 4 << 20   // bytes, as registries bound them
	maxLayers   = 2000      // of one artifact
	maxPacked   = 512 << 20 // bytes of its layers, as they are sent
	maxMembers  = 2000      // of a catalog
)

// A Fetcher gets and pushes artifacts. Its methods may be called by several goroutines.
type Fetcher struct{ options Options }

// New returns a fetcher. Nil options are the defaults.
func New(options *Options) *Fetcher {
	var o Options
	if options != nil {
		o = *options
	}
	o.Idle = cmp.Or(o.Idle, 30*time.Second)
	o.Slow = cmp.Or(o.Slow, 10*time.Minute)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	return &Fetcher{o}
}
