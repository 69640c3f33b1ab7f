// Package skillshost uses the skills of other MCP servers, by the rules that the Skills
// extension of MCP (SEP-2640, https://modelcontextprotocol.io/seps/2640-skills-extension)
// has for hosts: nothing is fetched before it is needed, and nothing is used that is not
// as its server has stated it.
//
// Start with [New], whose [Host] knows the servers that the person has connected, or with
// [Connect] for one server.
package skillshost

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The bounds of a listing, besides those of each entry.
const (
	maxPage    = 8 << 20 // bytes of a page
	maxPages   = 100
	maxListed  = 32 << 20 // bytes of all entries
	maxEntries = 1000
	maxSmall   = 1 << 20 // bytes of any other reply
)

// defaultRequest bounds the wait for a reply.
const defaultRequest = 30 * time.Second

// extension is the name of the extension.
const extension = "io.modelcontextprotocol/skills"

// ErrNoSkills is returned by [Connect] for a server that does not serve skills.
var ErrNoSkills = errors.New("the server does not declare the Skills extension (" + extension + ")")

// A Session is a connection to a server. Its methods may be called concurrently; requests
// are made one at a time.
type Session struct {
	dialed  *dialed
	client  *client.Client
	wait    time.Duration
	version string             // of the protocol
	info    mcp.Implementation // of this program

	turn chan struct{} // holds a token during a request
	id   atomic.Int64
	once sync.Once // closes
}

// Connect connects to a server and agrees on a revision of the protocol. It fetches
// nothing. The caller closes the session. Options may be nil.
func Connect(ctx context.Context, address Address, options *Options) (_ *Session, err error) {
	o := Options{}
	if options != nil {
		o = *options
	}
	o.Request = cmp.Or(o.Request, defaultRequest)
	if o.Env == nil {
		o.Env = []string{}
	}
	d, err := dial(address, &o)
	if err != nil {
		return nil, err
	}
	s := &Session{dialed: d, client: client.NewClient(d), wait: o.Request, turn: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			s.Close()
			err = foreign(errors.Join(err, d.err()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, 2*o.Request)
	defer cancel()
	d.limit.Store(maxSmall)
	if err := s.client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	hello := mcp.InitializeRequest{}
	s.info = mcp.Implementation{Name: "skills-mcp", Version: o.Version}
	hello.Params.ClientInfo = s.info
	hello.Params.Capabilities.Extensions = map[string]any{extension: map[string]any{}}
	agreed, err := s.client.Initialize(ctx, hello)
	if err != nil {
		return nil, fmt.Errorf("agree with the server on a revision of MCP: %w", err)
	}
	if s.version = agreed.ProtocolVersion; agreed.Capabilities.Extensions[extension] == nil {
		return nil, ErrNoSkills
	}
	return s, nil
}

// Close ends the session, and the server's program, and waits for both.
func (s *Session) Close() { s.once.Do(s.dialed.close) }

// Listen calls changed after notices of the server that its skills have changed, at most
// once in noticePause, until ctx is done or the server ends it. Servers of revisions before
// 2026-07-28 send no notices here.
func (s *Session) Listen(ctx context.Context, changed func()) error {
	s.client.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == mcp.MethodNotificationResourcesListChanged {
			changed()
			pause(ctx, noticePause)
		}
	})
	return s.client.Listen(ctx, mcp.SubscriptionFilter{ResourcesListChanged: true})
}

// noticePause bounds the notices that a server can have acted on.
const noticePause = time.Second

// pause waits, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// call makes a request, whose reply may have limit bytes.
func (s *Session) call(ctx context.Context, method string, params map[string]any, limit int64) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.wait, fmt.Errorf("the server did not reply to %s within %v", method, s.wait))
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.dialed.limit.Store(limit)
	request := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(firstID + s.id.Add(1)), Method: method, Params: params}
	if mcp.IsModernProtocol(s.version) {
		params["_meta"] = map[string]any{
			mcp.MetaKeyProtocolVersion: s.version, mcp.MetaKeyClientCapabilities: s.client.GetClientCapabilities(), mcp.MetaKeyClientInfo: s.info,
		}
		encoded, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		request.Header = http.Header{}
		for name, value := range mcp.StandardHeaders(s.version, mcp.MCPMethod(method), encoded) {
			request.Header.Set(name, value)
		}
	}
	reply, err := s.dialed.SendRequest(ctx, request)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", method, foreign(errors.Join(err, s.dialed.err())))
	case reply.Error != nil:
		return nil, fmt.Errorf("%s: the server says: %.500q (%d)", method, reply.Error.Message, reply.Error.Code)
	case int64(len(reply.Result)) > limit:
		return nil, fmt.Errorf("%s: %w", method, errReplyTooLarge)
	}
	return reply.Result, nil
}

// maxMessage bounds an error that may have a server's words, in bytes.
const maxMessage = 500

// A foreignError is an error that may have a server's words: its text is bounded, and one
// line without control characters.
type foreignError struct{ error }

// foreign returns the error for people.
func foreign(err error) error { return foreignError{err} }

// Error implements error.
func (e foreignError) Error() string {
	return truncate.String(termtext.Visible(strings.ReplaceAll(e.error.Error(), "\n", "; ")), maxMessage)
}

// Unwrap returns the error with the words as they are.
func (e foreignError) Unwrap() error { return e.error }

// firstID is larger than the identifiers of the requests that the client makes by itself.
const firstID = 1 << 20

// A Listing is the skills that a server lists.
type Listing struct {
	Entries []*Entry
	// Faults are the entries that cannot be used.
	Faults []error
	// TTL is the time for which the server says that the listing is good; 0 is not said.
	TTL time.Duration
}

// List returns the skills that the server lists. It fetches no file of them. An entry that
// breaks a rule is a fault of the listing; one too many, and a page that cannot be read,
// is an error.
func (s *Session) List(ctx context.Context) (*Listing, error) {
	l, seen, total := &Listing{}, map[string]bool{}, 0
	for cursor, pages := "", 0; ; pages++ {
		if pages == maxPages {
			return nil, fmt.Errorf("the server's list of skills has more than %d pages", maxPages)
		}
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := s.call(ctx, "skills/list", params, maxPage)
		if err != nil {
			return nil, err
		}
		var page struct {
			Skills     []json.RawMessage `json:"skills"`
			NextCursor string            `json:"nextCursor"`
			TTL        float64           `json:"ttlMs"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("the server's list of skills is not as the extension has it: %w", err)
		}
		if total += len(raw); total > maxListed {
			return nil, fmt.Errorf("the server's list of skills has more than %d bytes", maxListed)
		}
		if err := l.add(page.Skills); err != nil {
			return nil, err
		}
		l.TTL = time.Duration(max(0, min(page.TTL, float64(maxTTL.Milliseconds())))) * time.Millisecond
		if cursor = page.NextCursor; cursor == "" {
			return l, nil
		}
		if seen[cursor] {
			return nil, errors.New("the server's list of skills has no end: it repeats a cursor")
		}
		seen[cursor] = true
	}
}

// maxTTL bounds the time for which a listing is good.
const maxTTL = 24 * time.Hour

// add adds the entries of a page. Of two with one URI the first counts.
func (l *Listing) add(page []json.RawMessage) error {
	if len(l.Entries)+len(l.Faults)+len(page) > maxEntries {
		return fmt.Errorf("the server lists more than %d skills", maxEntries)
	}
	for _, raw := range page {
		e, err := parseEntry(raw)
		if err == nil && l.find(e.URI) != nil {
			err = &EntryError{e.URI, "it is listed twice"}
		}
		if err != nil {
			l.Faults = append(l.Faults, err)
			continue
		}
		l.Entries = append(l.Entries, e)
	}
	return nil
}

// find returns the entry of a URI, or nil.
func (l *Listing) find(uri string) *Entry {
	for _, e := range l.Entries {
		if e.URI == uri {
			return e
		}
	}
	return nil
}

// Get returns the current entry of a skill, which need not be listed.
func (s *Session) Get(ctx context.Context, uri string) (*Entry, error) {
	raw, err := s.call(ctx, "skills/get", map[string]any{"uri": uri}, maxEntry+maxSmall)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Skill json.RawMessage `json:"skill"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return nil, fmt.Errorf("skills/get: %w", err)
	}
	e, err := parseEntry(reply.Skill)
	if err == nil && e.URI != uri {
		return nil, &EntryError{e.URI, "the server was asked for another skill"}
	}
	return e, err
}

// read returns the content of a file, which is verified.
func (s *Session) read(ctx context.Context, r *Resource) ([]byte, error) {
	limit := min(6*r.Size, 2*maxBytes) + maxSmall // JSON may write a byte as six
	raw, err := s.call(ctx, "resources/read", map[string]any{"uri": r.URI}, limit)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Contents []struct {
			URI  string  `json:"uri"`
			Text *string `json:"text"`
			Blob *string `json:"blob"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return nil, fmt.Errorf("resources/read: %w", err)
	}
	if len(reply.Contents) != 1 || reply.Contents[0].URI != r.URI {
		return nil, fmt.Errorf("resources/read: the reply is not the one file %.200q", r.URI)
	}
	var data []byte
	switch c := reply.Contents[0]; {
	case c.Text != nil && c.Blob == nil:
		data = []byte(*c.Text)
	case c.Blob != nil && c.Text == nil:
		if data, err = base64.StdEncoding.DecodeString(*c.Blob); err != nil {
			return nil, fmt.Errorf("resources/read: %.200q: %w", r.URI, err)
		}
	default:
		return nil, fmt.Errorf("resources/read: %.200q has neither a text nor a blob", r.URI)
	}
	if err := r.verify(data); err != nil {
		return nil, &VerificationError{r.URI, err}
	}
	return data, nil
}
