package oci

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"time"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// maxRetries bounds the attempts after the first, and maxRedirects the redirects of one
// request.
const (
	maxRetries   = 4
	maxRedirects = 5
)

type repository = remote.Repository

// A connection is all HTTP of one fetch or push. Its repositories may be of several
// registries: a catalog names others.
type connection struct {
	options   Options
	registry  string // the host name of the source's registry
	person    bool   // the person named it
	plain     bool   // that registry is reached without TLS
	transport *http.Transport
	client    *auth.Client

	mu      sync.Mutex
	trusted map[string]bool // hosts of any address: the named one, and the person's proxies
	private bool            // the registry that the person named is at an address that is not public
}

// with calls use with a connection to the registry of s. A registry of this machine that
// turns out to have no TLS is used without, by calling use again: it fails before anything
// else is done.
func (f *Fetcher) with(ctx context.Context, s source.Source, person bool, use func(*connection) error) error {
	ref, err := registry.ParseReference(s.Location)
	if err != nil || ref.Reference != "" {
		return &source.RefusedError{Reason: fmt.Sprintf("%q names no repository of a registry", s.Location), Remedy: "write oci://host/repository:tag"}
	}
	for _, plain := range []bool{false, true} {
		var c *connection
		if c, err = f.connect(ref, person, plain); err != nil {
			return err
		}
		err = use(c)
		c.transport.CloseIdleConnections()
		if !person || !isLocal(c.registry) || !errors.Is(err, http.ErrSchemeMismatch) {
			break
		}
	}
	return explain(err, ref, reference(s))
}

// reference returns the tag or digest to ask a registry for. A pin is more exact than a
// tag, which may have moved.
func reference(s source.Source) string { return cmp.Or(s.Pin, s.Ref, "latest") }

// isLocal reports whether a host name is this machine's own, by its form. Its name is not
// looked up, because the answer of a resolver can be anybody's.
func isLocal(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

func (f *Fetcher) connect(ref registry.Reference, person, plain bool) (*connection, error) {
	host := (&url.URL{Host: ref.Host()}).Hostname()
	c := &connection{options: f.options, registry: host, person: person, plain: plain, trusted: map[string]bool{host: person}}
	c.transport = &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: f.options.Idle}
	if f.options.Transport != nil {
		c.transport = f.options.Transport.Clone()
	}
	c.transport.DialContext = c.dial
	// Length and digest count the bytes on the wire.
	c.transport.DisableCompression = true
	c.transport.MaxResponseHeaderBytes = 1 << 20
	if proxy := c.transport.Proxy; proxy != nil {
		c.transport.Proxy = c.trustProxy(proxy)
	}
	if c.transport.TLSClientConfig == nil {
		c.transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	c.client = &auth.Client{
		Client: &http.Client{
			Transport:     &retry.Transport{Base: idleTransport{c.transport, f.options.Idle}, Policy: func() retry.Policy { return patience(f.options.MaxWait) }},
			CheckRedirect: c.checkRedirect,
		},
		Cache: auth.NewCache(),
	}
	if f.options.UserAgent != "" {
		c.client.SetUserAgent(f.options.UserAgent)
	}
	if f.options.DockerConfig != "" {
		store, err := credentials.NewStore(f.options.DockerConfig, credentials.StoreOptions{})
		if err != nil {
			return nil, fmt.Errorf("read Docker's configuration %s: %w", f.options.DockerConfig, err)
		}
		c.client.Credential = credentials.Credential(store)
	}
	return c, nil
}

// repository returns a client of "host[:port]/repository".
func (c *connection) repository(location string) (*repository, error) {
	r, err := remote.NewRepository(location)
	if err != nil {
		return nil, &source.RefusedError{Reason: fmt.Sprintf("%q names no repository of a registry", location)}
	}
	r.Client, r.MaxMetadataBytes = c.client, maxManifest
	r.PlainHTTP = c.plain && (&url.URL{Host: r.Reference.Host()}).Hostname() == c.registry
	// A manifest that others refer to is never pushed here, so that the registry need not
	// be asked how it lists them.
	r.SkipReferrersGC = true
	return r, nil
}

func (c *connection) trustProxy(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		by, err := proxy(r)
		if by != nil {
			c.mu.Lock()
			c.trusted[by.Hostname()] = true
			c.mu.Unlock()
		}
		return by, err
	}
}

func (c *connection) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: c.options.Idle, ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return err
		}
		return c.permit(host, at.Addr())
	}}
	return dialer.DialContext(ctx, network, address)
}

// permit refuses a private address, except of a host that the person trusts, or of one
// that a private registry names.
func (c *connection) permit(host string, at netip.Addr) error {
	if c.options.Public == nil || c.options.Public(at.Unmap()) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.private = c.private || c.person && host == c.registry
	if c.trusted[host] || c.private {
		return nil
	}
	return &source.RefusedError{Reason: fmt.Sprintf("the registry leads to %s, an address that is not public (%s)", host, at), Remedy: "tell its administrator"}
}

// checkRedirect implements the rule of [http.Client]. Who has TLS keeps it.
func (c *connection) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if r.URL.Scheme != "https" && (via[0].URL.Scheme == "https" || !isLocal(r.URL.Hostname())) {
		return &source.RefusedError{Reason: fmt.Sprintf("the registry leads to %s without TLS", r.URL.Host), Remedy: "tell its administrator"}
	}
	// A proxy would connect without asking dial.
	if at, err := netip.ParseAddr(r.URL.Hostname()); err == nil {
		return c.permit(r.URL.Hostname(), at)
	}
	return nil
}

// patience retries what may be transient, after the wait that the registry asks for. It
// bounds that wait.
type patience time.Duration

// Retry implements [retry.Policy].
func (p patience) Retry(attempt int, r *http.Response, err error) (time.Duration, error) {
	again, err := retry.DefaultPredicate(r, err)
	if errors.Is(err, io.EOF) {
		again, err = true, nil
	}
	if err != nil || !again || attempt >= maxRetries {
		return -1, err
	}
	if r != nil {
		wait := retryAfter(r.Header.Get("Retry-After"), time.Now())
		if wait > time.Duration(p) {
			return -1, fmt.Errorf("the registry is busy and asks to wait %s; try again then", wait.Round(time.Second))
		}
		if wait > 0 {
			return wait, nil
		}
	}
	return pause(attempt), nil
}

// pause returns the wait before a retry.
func pause(attempt int) time.Duration { return 200 * time.Millisecond << attempt }

// retryAfter reads a Retry-After header (RFC 9110, 10.2.3); 0 is none.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// An idleTransport ends a request without a body of its own when no byte comes for a time.
type idleTransport struct {
	base http.RoundTripper
	idle time.Duration
}

var errIdle = errors.New("no byte came for too long")

// RoundTrip implements [http.RoundTripper].
func (t idleTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		return t.base.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(t.idle, func() { cancel(errIdle) })
	answer, err := t.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if context.Cause(ctx) == errIdle {
			err = errIdle
		}
		cancel(nil)
		return nil, err
	}
	answer.Body = &idleBody{answer.Body, ctx, cancel, timer, t.idle}
	return answer, nil
}

type idleBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func (b *idleBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.idle)
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && context.Cause(b.ctx) == errIdle {
		err = errIdle
	}
	return n, err
}

func (b *idleBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
