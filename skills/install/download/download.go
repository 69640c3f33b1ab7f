// Package download gets files over HTTP for installation, from servers that may be
// slow, broken or hostile: bounded in size and time, with no redirect to a private
// address, and with a second attempt where a busy server asks for one.
//
// Start with [New].
package download

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// A Client gets files. Its methods may be called by several goroutines.
type Client struct {
	options    Options
	transports *transports
}

// New returns a client. Nil options are the defaults. The caller closes it.
func New(options *Options) *Client {
	c := &Client{}
	if options != nil {
		c.options = *options
	}
	o := &c.options
	o.Slow = cmp.Or(o.Slow, 10*time.Minute)
	o.UserAgent = cmp.Or(o.UserAgent, "skills-mcp")
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport)
	}
	c.transports = newTransports(o.Transport, publicOnly(o.Public))
	return c
}

// Close closes the connections that no download uses.
func (c *Client) Close() { c.transports.close() }

// HTTPClient returns a client for libraries that make their own requests, with the rules of
// downloads for addresses, schemes, redirects and busy servers. named is the host
// that the person wrote, without a port; "" is none. With peers, others may be at private
// addresses, too: see [Client.Private].
func (c *Client) HTTPClient(named string, peers bool) *http.Client {
	rules := &guard{c.transports, named, peers}
	return &http.Client{Transport: &retrying{rules, c.options.Sleep}, CheckRedirect: checkRedirect}
}

// UserAgent returns the name of this program for servers.
func (c *Client) UserAgent() string { return c.options.UserAgent }

// Private reports whether a host has an address that is not of the public internet.
func (c *Client) Private(ctx context.Context, host string) bool {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(addresses, func(a netip.Addr) bool {
		return c.transports.allow(a.Unmap()) != nil
	})
}
