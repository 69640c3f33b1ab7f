package kubernetes

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

// Egress configures the proxies to granted hosts, which all Pods reach at one address of the
// server. Only Pods with such commands need a way there: they have the label
// skills-mcp/egress.
type Egress struct {
	*egress.Options
	// Listen is the address and port that the server listens at; "" is none: commands that
	// are granted hosts cannot run.
	Listen string
	// Address is the host and port by which Pods reach Listen.
	Address string
	// Direct says that connections come from the addresses of their Pods, as they do to
	// the address of the server's own Pod.
	Direct bool
}

// A gateway is the listener of the proxies. The first command with hosts opens it.
type gateway struct {
	options Egress
	listen  func(address string) (net.Listener, error)

	mu   sync.Mutex
	open *egress.Gateway // nil until then
}

func newGateway(o Egress) *gateway {
	return &gateway{options: o, listen: func(address string) (net.Listener, error) { return net.Listen("tcp", address) }}
}

func (g *gateway) get() (*egress.Gateway, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		return g.open, nil
	}
	listener, err := g.listen(g.options.Listen)
	if err != nil {
		return nil, err
	}
	g.open = egress.NewGateway(listener)
	return g.open, nil
}

func (g *gateway) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		_ = g.open.Close()
	}
}

// proxied serves cmd a proxy to its hosts, if it was granted any, and returns cmd with the
// variables that name the proxy. The addresses are its Pod's. The returned function ends the
// proxy and completes the command's exit, which may be nil. The token in the variables is for
// the proxy alone: it is redacted from the command's output.
func (g *gateway) proxied(cmd *sandbox.Command, addresses []netip.Addr) (connected *sandbox.Command, end func(*sandbox.Exit), err error) {
	if len(cmd.Grant.Hosts) == 0 {
		return cmd, func(*sandbox.Exit) {}, nil
	}
	o := g.options
	if o.Listen == "" || o.Address == "" {
		return nil, nil, &sandbox.UnavailableError{
			Reason: "the server has no address at which Pods reach its proxy to the granted hosts",
			Remedy: "set sandbox.kubernetes.egress.listen, and egress.address or the variable POD_IP by the downward API",
		}
	}
	shared, err := g.get()
	if err != nil {
		return nil, nil, &sandbox.UnavailableError{Reason: "the proxy to the granted hosts cannot listen: " + err.Error(), Remedy: "set sandbox.kubernetes.egress.listen to a free address", Err: err}
	}
	proxy, err := egress.New(cmd.Grant, o.Options)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !o.Direct:
		addresses = nil
	case len(addresses) == 0: // a token without one would count for every Pod
		return nil, nil, &sandbox.UnavailableError{Reason: "the address of the command's Pod is not known", Remedy: "try again"}
	}
	listener, userinfo := shared.Open(addresses...)
	var served sync.WaitGroup
	served.Go(func() { _ = proxy.Serve(listener) })
	if cmd.Proxied != nil {
		cmd.Proxied(proxy.Connections)
	}
	_, secret, _ := strings.Cut(userinfo, ":")
	token := redact.New(map[string]string{secret: "[token]"})
	with := *cmd
	with.Env = slices.Concat(egress.Environ(userinfo+"@"+o.Address), cmd.Env)
	var flush []func() error
	if cmd.Stdout != nil {
		w := token.Writer(cmd.Stdout)
		with.Stdout, flush = w, append(flush, w.Close)
	}
	if cmd.Stderr != nil {
		w := token.Writer(cmd.Stderr)
		with.Stderr, flush = w, append(flush, w.Close)
	}
	return &with, func(exit *sandbox.Exit) {
		_ = listener.Close()
		_ = proxy.Close()
		served.Wait()
		for _, f := range flush {
			_ = f()
		}
		if exit != nil {
			exit.Connections = proxy.Connections()
			exit.Redact(token)
		}
	}, nil
}
