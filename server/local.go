package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// A Local is a client in this process, of a subagent. It implements
// [github.com/skillsmcp/skills-mcp/server/agents.Tools]: its requests go the way of those over
// MCP. It declares no capabilities, so that nobody answers its questions but a person on the
// page. It may be used concurrently.
type Local struct {
	server  *Server
	session *localSession
	closed  func()
	last    atomic.Int64 // the ID of the last request
}

// A localSession is the session of a [Local]. It gets no notifications, as it is never
// initialized.
type localSession struct {
	who        identity.Principal
	workspaces []string // none are the server's
}

func (*localSession) Initialize()                                         {}
func (*localSession) Initialized() bool                                   { return false }
func (*localSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (s *localSession) SessionID() string                                 { return s.who.Session }
func (s *localSession) Principal() identity.Principal                     { return s.who }
func (s *localSession) Workspaces() []string                              { return s.workspaces }

// Await returns the catalog, once there is one for calls. The error is that ctx is done.
func (s *Server) Await(ctx context.Context) (*skills.Catalog, error) {
	select {
	case <-s.readiness.calls:
		return s.Catalog(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Connect returns a client for the session of who, which must have none yet. workspaces are
// those of its calls; none are the server's. It waits for the first catalog. The caller must
// close it, which calls closed at the end.
func (s *Server) Connect(ctx context.Context, who identity.Principal, workspaces []string, closed func()) (*Local, error) {
	if _, err := s.Await(ctx); err != nil {
		return nil, err
	}
	l := &Local{server: s, session: &localSession{who, workspaces}, closed: closed}
	if err := s.core.RegisterSession(ctx, l.session); err != nil {
		return nil, fmt.Errorf("connect a subagent: %w", err)
	}
	return l, nil
}

// Close ends the session, with its kept sandboxes, tasks, outputs and hooks.
func (l *Local) Close() {
	l.server.core.UnregisterSession(context.Background(), l.session.SessionID())
	l.closed()
}

// context returns ctx as that of a request of the client.
func (l *Local) context(ctx context.Context) context.Context {
	return l.server.core.WithContext(identity.NewContext(ctx, l.session.who), l.session)
}

// request returns the result of a request. The error is one for a model.
func (l *Local) request(ctx context.Context, method mcp.MCPMethod, params any) (result any, err error) {
	defer l.server.invoke.recover(func(caught error) { err = caught })
	raw, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": l.last.Add(1), "method": method, "params": params})
	if err != nil {
		return nil, &run.Error{Code: run.InvalidParam, Message: "the arguments are no JSON object", Err: err}
	}
	reply := l.server.core.HandleMessage(l.context(ctx), raw)
	if failed, ok := reply.(mcp.JSONRPCError); ok {
		return nil, errors.New(failed.Error.Message)
	}
	return reply.(mcp.JSONRPCResponse).Result, nil // a request has one of the two
}

// List returns the tools of tools/list, of its first page: the selection for a model is
// smaller.
func (l *Local) List(ctx context.Context) ([]chat.Definition, error) {
	reply, err := l.request(ctx, mcp.MethodToolsList, struct{}{})
	listed, _ := reply.(mcp.ListToolsResult)
	all := make([]chat.Definition, len(listed.Tools))
	for i, tool := range listed.Tools {
		all[i] = chat.Definition{Name: tool.Name, Description: tool.Description, Schema: tool.RawInputSchema}
	}
	return all, err
}

// Call calls a tool, and returns its result as text.
func (l *Local) Call(ctx context.Context, name string, args json.RawMessage) (text string, failed bool) {
	if scope := toolScope(name); !l.session.who.May(scope) {
		return fmt.Sprintf("the token of the client has no scope %s, which %s needs", scope, name), true
	}
	reply, err := l.request(ctx, mcp.MethodToolsCall, map[string]any{"name": name, "arguments": args})
	called, ok := reply.(*mcp.CallToolResult)
	switch {
	case err != nil:
		return err.Error(), true
	case !ok:
		return fmt.Sprintf("the tool returned %T", reply), true
	}
	return inWords(called), called.IsError
}

// inWords returns a result as text, in which images and files are named.
func inWords(r *mcp.CallToolResult) string {
	var all []string
	if text := result.Texts(r.Content); text != "" {
		all = append(all, text)
	} else if r.StructuredContent != nil {
		all = append(all, string(encoded(r.StructuredContent)))
	}
	media := func(kind, mime, data string) string {
		return fmt.Sprintf("[%s: %s, %d bytes]", kind, mime, base64.StdEncoding.DecodedLen(len(data)))
	}
	for _, content := range r.Content {
		switch c := content.(type) {
		case mcp.ImageContent:
			all = append(all, media("image", c.MIMEType, c.Data))
		case mcp.AudioContent:
			all = append(all, media("sound", c.MIMEType, c.Data))
		case mcp.ResourceLink:
			all = append(all, fmt.Sprintf("[file %s: %s, %s]", c.Name, c.MIMEType, c.URI))
		case mcp.EmbeddedResource:
			if file, isText := mcp.AsTextResourceContents(c.Resource); isText {
				all = append(all, fmt.Sprintf("[file %s]\n%s", file.URI, file.Text))
			} else if file, isBlob := mcp.AsBlobResourceContents(c.Resource); isBlob {
				all = append(all, media("file "+file.URI, file.MIMEType, file.Blob))
			}
		}
	}
	return strings.Join(all, "\n")
}

// maxNamed bounds the names of skills in a prompt, in bytes.
const maxNamed = 2000

// Skills returns a line that names the skills that the subagent can use, and the instructions
// of those that are named, if they can be loaded, and then of those that a message matches, as
// match_skills returns them: at most max.
func (l *Local) Skills(ctx context.Context, message string, named []string, most int) (line string, bodies []string, err error) {
	m, err := l.server.match(l.context(ctx), l.session.who, message, most, named)
	if err != nil {
		return "", nil, err
	}
	for _, body := range m.bodies {
		bodies = append(bodies, body.prompt())
	}
	return m.namesLine(), bodies, nil
}

// AgentFor returns the name of the agent to which Conduit routes a task: that of the skill
// which fits it best; "" is none.
func (s *Server) AgentFor(ctx context.Context, who identity.Principal, task string) string {
	m, err := s.match(ctx, who, task, 0, nil)
	if err != nil || m.doubtful || len(m.fitting) == 0 {
		return ""
	}
	return m.fitting[0].ConduitAgent()
}

// match returns the skills for a message to a subagent, or to a client that spawns one, with
// the instructions of at most room of them: first of those that are named.
func (s *Server) match(ctx context.Context, who identity.Principal, message string, room int, named []string) (*match, error) {
	m := &match{request: &request{ctx: ctx, principal: who, view: s.published.view.Load()}, loader: s.published.fixed.loader, most: maxMatches, room: room, keep: keepFor(who)}
	for _, name := range named {
		if skill, err := s.invoke.find.named(m.request, name); err == nil && m.keep(skill) {
			m.fitting = m.add(m.fitting, skill.Owner(), true)
		} else {
			s.options.Logger.Info("a skill of an agent is not in its prompt", "skill", name, "error", err)
		}
	}
	found, err := s.published.search.search(ctx, m.request.view, search.Query{Text: truncate.String(message, maxMessage), Keep: m.keep})
	if err == nil {
		m.find(message, found)
	}
	return m, err
}

// keepFor returns which skills may be in the prompt of a subagent: not those that Conduit
// routes to another agent. A client has all.
func keepFor(who identity.Principal) func(*skills.Skill) bool {
	if len(who.Agents) == 0 {
		return injectable
	}
	own := who.Agents[len(who.Agents)-1]
	return func(skill *skills.Skill) bool {
		agent := skill.Owner().ConduitAgent()
		return injectable(skill) && (agent == "" || agent == own || agent == path.Base(own))
	}
}

// namesLine returns the names of the skills that may be in the prompt.
func (m *match) namesLine() string {
	text := ""
	for _, skill := range m.request.view.exposed.Order() {
		if skill.Of != nil || !m.keep(skill) || m.request.view.exposed.Of(skill).Reach == exposure.ByNobody {
			continue
		}
		if len(text) > maxNamed {
			text += ", and others, which search_skills finds"
			break
		}
		text += ", " + skill.QualifiedName()
	}
	if text == "" {
		return "There are no skills."
	}
	return "Skills, whose instructions load_skill returns: " + strings.TrimPrefix(text, ", ")
}
