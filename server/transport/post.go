package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const versionHeader = "MCP-Protocol-Version"

// isModernHeader reports whether a request says that its client is modern.
func isModernHeader(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(versionHeader))
}

// post handles one message of a client.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	a := newAnswer(w, h.options)
	body, refused := h.read(w, r)
	if refused != nil {
		refused.write(a)
		return
	}
	if isBatch(body) && !isModernHeader(r) {
		h.postBatch(a, r, body)
		return
	}
	m, f := parse(body)
	switch version := r.Header.Get(versionHeader); {
	case f != nil && version != "" && m.version != "" && version != m.version:
		a.refuse(http.StatusBadRequest, versionMismatch(version, m))
	case f != nil:
		a.refuse(http.StatusBadRequest, f)
	case m.modern || isModernHeader(r):
		h.postModern(a, r, m)
	default:
		h.postLegacy(a, r, m)
	}
}

// A refusal is an answer to what is no message.
type refusal struct {
	status int
	fault  fault
}

func (f *refusal) write(a *answerer) { a.refuse(f.status, &f.fault) }

func refuse(status, code int, text string) *refusal {
	return &refusal{status, fault{code: code, message: text}}
}

// read returns a message as it was sent, by a client that takes both kinds of
// answers.
func (h *HTTP) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		return nil, refuse(http.StatusNotAcceptable, mcp.INVALID_REQUEST, "the Accept header must name both application/json and text/event-stream")
	}
	leave, refused := h.bodies.enter(r)
	if refused != nil {
		return nil, refused
	}
	defer leave()
	return h.readJSON(w, r)
}

// readJSON is for a request that has entered bodies.
func (h *HTTP) readJSON(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, refuse(http.StatusUnsupportedMediaType, mcp.INVALID_REQUEST, "the Content-Type must be application/json")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, refuse(http.StatusUnsupportedMediaType, mcp.INVALID_REQUEST, "compressed messages are not taken: send it without Content-Encoding")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.options.MaxBody)))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return nil, refuse(http.StatusRequestEntityTooLarge, mcp.INVALID_REQUEST, fmt.Sprintf("message longer than %d bytes", h.options.MaxBody))
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, mcp.PARSE_ERROR, "the message was not sent whole")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the answer may take long
	return body, nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" { // as nearly all write it
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// accepts reports whether a client takes answers of a kind. One that does not say
// takes all.
func accepts(r *http.Request, kind string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	major, _, _ := strings.Cut(kind, "/")
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case kind, major + "/*", "*/*":
			return true
		}
	}
	return false
}

// postModern handles a message of the modern protocol, which stands for itself:
// it has a session of its own, and the end of its stream cancels it.
func (h *HTTP) postModern(a *answerer, r *http.Request, m message) {
	if f := h.checkHeaders(r, m); f != nil {
		a.refuse(http.StatusBadRequest, f)
		return
	}
	switch m.kind {
	case notification:
		// A cancellation too: over HTTP the end of the stream is one, and an id
		// may be another client's.
		a.accept()
		return
	case response:
		a.refuse(http.StatusBadRequest, invalid(m.id, "the server asks nothing of a modern client"))
		return
	}
	id := "http-modern-" + strconv.FormatInt(moderns.Add(1), 10)
	p := newModernPeer(id, principalOf(r))
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	p.group, p.conn = host+" "+m.client, r.RemoteAddr
	if m.method == string(mcp.MethodSubscriptionsListen) {
		h.subscribe(a, r, p, m)
		return
	}
	h.run(a, r, p, m, id)
}

// moderns numbers the requests of modern clients of all handlers: one core may
// serve several, and knows sessions by their names.
var moderns atomic.Int64

// checkHeaders compares the headers that a modern request has for those between
// with what it says itself (SEP-2243).
func (h *HTTP) checkHeaders(r *http.Request, m message) *fault {
	version := r.Header.Get(versionHeader)
	switch {
	case r.Header.Get("Last-Event-ID") != "":
		return &fault{id: m.id, code: mcp.INVALID_REQUEST, message: "streams cannot be resumed in this version of the protocol: send the request again, without Last-Event-ID"}
	case version == "":
		return &fault{id: m.id, code: mcp.HEADER_MISMATCH, message: "the header " + versionHeader + " is missing"}
	case m.version == "" && m.kind == request:
		return &fault{id: m.id, code: mcp.INVALID_PARAMS, message: "missing or invalid _meta field " + mcp.MetaKeyProtocolVersion}
	case m.kind == request && version != m.version:
		return versionMismatch(version, m)
	case m.kind == response:
		return nil
	}
	err := mcp.ValidateStandardHeaders(r.Header.Get, version, mcp.MCPMethod(m.method), m.params)
	if named := h.Methods[m.method].Named; err == nil && named != "" {
		err = checkName(r.Header.Get(mcp.HeaderName), m, named)
	}
	if err != nil {
		return &fault{id: m.id, code: mcp.HEADER_MISMATCH, message: err.Error()}
	}
	return nil
}

func versionMismatch(header string, m message) *fault {
	return &fault{id: m.id, code: mcp.HEADER_MISMATCH, message: fmt.Sprintf("the header %s is %q, and the message says %q", versionHeader, header, m.version)}
}

// checkName compares the header Mcp-Name with a field of the params, for methods
// that mcp-go does not know. Params that are not well-formed are the method's to
// report.
func checkName(header string, m message, field string) error {
	var params map[string]json.RawMessage
	var name string
	if json.Unmarshal(m.params, &params) != nil || json.Unmarshal(params[field], &name) != nil {
		return nil
	}
	if sent, ok := mcp.DecodeHeaderValue(header); !ok || sent != name {
		return fmt.Errorf("the header %s is %q, and %s is %q", mcp.HeaderName, header, field, name)
	}
	return nil
}

// run handles a modern request, now or when there is a place. It ends with r, as
// streams cannot be resumed; key tells it apart from all others.
func (h *HTTP) run(a *answerer, r *http.Request, p *peer, m message, key string) {
	if line := h.memory.recall(m, p); line != nil { // which takes no place
		a.finish(http.StatusOK, line)
		h.memory.recycle(line)
		return
	}
	c := newCall(r.Context(), m)
	c.key = key
	defer c.cancel(nil)
	defer context.AfterFunc(h.ctx, func() { c.cancel(context.Cause(h.ctx)) })()
	defer context.AfterFunc(r.Context(), func() { h.calls.cancel(key, errGone) })() // its id is free at once
	a.during(c.cancel, func() {
		switch err := h.calls.enter(c); {
		case err == nil:
			h.answer(a, c, p)
		case errors.Is(err, context.Canceled): // by its client
			a.cancelled()
		default:
			a.busy(m, err)
		}
	})
}

var errGone = errors.New("the client has gone")

// answer gives the place of c back before the answer is written: a client that
// is slow to take it keeps nobody waiting.
func (h *HTTP) answer(a *answerer, c *call, p *peer) {
	reply := h.exchangeIn(c, p, func(line []byte) {
		if h.calls.live(c) {
			a.send(line)
		}
	})
	if !h.calls.finish(c) {
		a.cancelled()
		return
	}
	a.finish(statusOf(c.message, reply), reply)
	h.memory.recycle(reply)
}

func (h *HTTP) exchangeIn(c *call, p *peer, emit func(line []byte)) []byte {
	defer h.calls.leave(c)
	return h.exchange(c.ctx, p, c.message, emit)
}

// statusOf is the status of a reply: the modern protocol has some for errors.
func statusOf(m message, reply []byte) int {
	if !m.modern {
		return http.StatusOK
	}
	code, failed := errorCode(m.id, reply)
	switch {
	case !failed:
		return http.StatusOK
	case code == mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case code == mcp.INTERNAL_ERROR:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

// joined returns a context that ends with the client's request and with a session
// that it is of, or with the server.
func joined(ctx, session context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(session, func() { cancel(context.Cause(session)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// open takes a place for a stream that stays open, which release gives back; it is
// nil where there is none. The context ends with r and session, when h is closed,
// and by cancel.
func (h *HTTP) open(r *http.Request, session context.Context) (ctx context.Context, cancel context.CancelCauseFunc, release func()) {
	ctx, leave := joined(r.Context(), session)
	ctx, cancel = context.WithCancelCause(ctx)
	c := &call{key: fmt.Sprintf("stream-%d", moderns.Add(1)), cancel: cancel}
	end := func() {
		cancel(nil)
		leave()
	}
	if h.calls.attach(c) != nil {
		end()
		return nil, nil, nil
	}
	return ctx, cancel, func() {
		h.calls.detach(c)
		end()
	}
}

// subscribe serves subscriptions/listen, whose stream is the answer.
func (h *HTTP) subscribe(a *answerer, r *http.Request, p *peer, m message) {
	ctx, cancel, release := h.open(r, h.ctx)
	if release == nil {
		a.busy(m, errBusy)
		return
	}
	defer release()
	queue := newNotices(h.log)
	over := make(chan []byte, 1)
	go func() { over <- h.listen(ctx, p, m, queue.announce) }()
	a.during(cancel, func() {
		reply := a.follow(queue, over)
		a.finish(statusOf(m, reply), reply)
	})
}
