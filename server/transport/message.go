package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// A kind is a kind of JSON-RPC message.
type kind int

const (
	request kind = iota
	notification
	response // to a request of ours
)

// A message is one message of the client, decoded as far as the transports need it.
// mcp-go gets raw.
type message struct {
	raw    json.RawMessage
	kind   kind
	method string
	params json.RawMessage
	id     json.RawMessage // as sent, because mcp-go passes ids through float64
	token  json.RawMessage // progress token as sent, for the same reason; may be nil
	modern bool            // carries its protocol version, 2026-07-28 or later, in _meta

	version string // of the protocol, as _meta has it; may be ""
	client  string // the client's name for itself there, as JSON, cut; may be ""
}

// parse decodes one line. It must tell requests from other messages as mcp-go does,
// and so uses the same decoder, for messages that [ambiguous] accepts.
func parse(line []byte) (message, *rpcError) {
	if !utf8.Valid(line) { // MCP's rule; a reply would repeat what is wrong in an id
		return message{}, &rpcError{code: mcp.PARSE_ERROR, message: "not valid UTF-8"}
	}
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("[")) { // 2025-03-26 has batches, which no client sends
		return message{}, invalid(nil, "batches are not supported: send one message a line")
	}
	var wire struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(line, &wire)
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongType {
		return message{}, &rpcError{code: mcp.PARSE_ERROR, message: "not valid JSON: " + err.Error()}
	}
	answers := wire.Result != nil || wire.Error != nil
	if err := ambiguous(line); err != nil {
		f := invalid(wire.ID, err.Error())
		if wire.Method == nil && answers { // the request must not wait for it
			return message{kind: response, id: wire.ID, raw: f.encode()}, nil
		}
		return message{}, f
	}
	if err != nil {
		return message{}, invalid(wire.ID, "not a JSON-RPC message")
	}
	if wire.JSONRPC != mcp.JSONRPC_VERSION {
		return message{}, invalid(wire.ID, `"jsonrpc" must be "2.0"`)
	}
	m := message{raw: line, id: wire.ID, params: wire.Params}
	switch {
	case wire.Method == nil && answers:
		m.kind = response
		return m, nil
	case wire.Method == nil:
		return message{}, invalid(wire.ID, "neither a request, a notification nor a response")
	case answers:
		return message{}, invalid(wire.ID, "both a request and a response")
	case wire.ID == nil:
		m.kind = notification
	case !validID(wire.ID):
		return message{}, invalid(nil, "the id must be a short string or a number")
	}
	m.method = *wire.Method
	lasting := m.kind == request && (m.method == string(mcp.MethodInitialize) || m.method == string(mcp.MethodSubscriptionsListen))
	if lasting && len(line) > maxLasting {
		return message{}, invalid(wire.ID, fmt.Sprintf("%s is longer than %d bytes", m.method, maxLasting))
	}
	if f := m.readMeta(); f != nil && m.kind == request {
		return m, f // which version it names is checked beside a header, over HTTP
	}
	return m, nil
}

// maxLasting is the longest message that stays in memory after its reply, in bytes: a
// client's description of itself, and the filter of its subscription.
const maxLasting = 256 << 10

// readMeta decodes params._meta. It returns an error for an unsupported version of the
// protocol: mcp-go would serve one that is older than all as a legacy client's. mcp-go
// reports anything else that is malformed, in the terms of the method.
func (m *message) readMeta() *rpcError {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if !mayHaveMeta(m.params) || json.Unmarshal(m.params, &params) != nil {
		return nil
	}
	m.token = params.Meta["progressToken"]
	if v := params.Meta[mcp.MetaKeyProtocolVersion]; v != nil && json.Unmarshal(v, &m.version) != nil {
		return &rpcError{id: m.id, code: mcp.INVALID_PARAMS, message: "_meta's " + mcp.MetaKeyProtocolVersion + " must be a string"}
	}
	if m.version != "" && !mcp.IsValidProtocolVersion(m.version) {
		return unsupported(m.id, m.version)
	}
	m.modern = mcp.IsModernProtocol(m.version)
	info := params.Meta[mcp.MetaKeyClientInfo]
	m.client = string(info[:min(len(info), maxClient)])
	if level := params.Meta[mcp.MetaKeyLogLevel]; m.modern && level != nil && !isLevel(level) {
		return &rpcError{id: m.id, code: mcp.INVALID_PARAMS, message: "_meta's " + mcp.MetaKeyLogLevel + ` must be one of "debug", "info", "notice", "warning", "error", "critical", "alert" and "emergency"`}
	}
	return nil
}

// maxClient is the length to which a client's name for itself is cut, in bytes.
const maxClient = 256

// unsupported returns the error for a version of the protocol that is not supported.
func unsupported(id json.RawMessage, version string) *rpcError {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError().Error
	return &rpcError{id: id, code: e.Code, message: e.Message, data: e.Data}
}

func isLevel(encoded json.RawMessage) bool {
	var level mcp.LoggingLevel
	return json.Unmarshal(encoded, &level) == nil && level.ShouldSendTo(mcp.LoggingLevelDebug)
}

// mayHaveMeta reports false only for params without _meta, which need no decoding.
func mayHaveMeta(params json.RawMessage) bool {
	return bytes.IndexByte(params, '\\') >= 0 || bytes.Contains(params, []byte(`"_meta"`))
}

// uri is params.uri, or "".
func (m *message) uri() string {
	var params struct{ URI string }
	_ = json.Unmarshal(m.params, &params) // mcp-go has refused what is no string
	return params.URI
}

// cancellation decodes the params of notifications/cancelled.
func (m *message) cancellation() (id json.RawMessage, reason string, ok bool) {
	var params struct {
		ID     json.RawMessage `json:"requestId"`
		Reason json.RawMessage `json:"reason"`
	}
	if json.Unmarshal(m.params, &params) != nil || !validID(params.ID) {
		return nil, "", false
	}
	_ = json.Unmarshal(params.Reason, &reason) // a reason that is no string is no reason
	return params.ID, reason, true
}

// key returns the key of an id among the requests in flight: the id itself, with the
// escapes of a string decoded, because a client may spell the same string in two ways.
func key(id json.RawMessage) string {
	var s string
	if bytes.IndexByte(id, '\\') < 0 || json.Unmarshal(id, &s) != nil {
		return string(id)
	}
	return `"` + s + `"`
}
