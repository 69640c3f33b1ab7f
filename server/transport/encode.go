package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// An rpcError is the JSON-RPC error for a message that cannot be served.
type rpcError struct {
	id      json.RawMessage // nil if the message has none that can be trusted
	code    int
	message string
	data    any // nil for none
	status  int // of HTTP; 0 for 400
}

// refusal returns the error for a request of HTTP without a message.
func refusal(status, code int, text string) *rpcError {
	return &rpcError{status: status, code: code, message: text}
}

func invalid(id json.RawMessage, text string) *rpcError {
	if !validID(id) {
		id = nil
	}
	return &rpcError{id: id, code: mcp.INVALID_REQUEST, message: text}
}

// maxID is the longest id accepted, in bytes. Replies echo it, and the replies
// that wait to be written are bounded by their number only.
const maxID = 1024

// validID reports whether id is one that MCP allows: a string or a number,
// never null.
func validID(id json.RawMessage) bool {
	if len(id) == 0 || len(id) > maxID {
		return false
	}
	c := id[0]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// encode returns v as one line, with its end. All text of skills leaves the server
// here, and is sanitized here: a model reads nothing that a person cannot see.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return termtext.JSON(b.Bytes(), isVerbatim), nil
}

// isVerbatim reports whether a text of a message is not sanitized: the client's own
// ids and tokens, and files that it reads, whose bytes have to match their digest. A
// file in a tool's result is for the model.
func isVerbatim(path []string) bool {
	if len(path) == 0 {
		return false
	}
	switch path[len(path)-1] {
	case "id":
		return len(path) == 1
	case "progressToken":
		return len(path) == 2 && path[0] == "params"
	case "text":
		return slices.Equal(path, contentsText)
	}
	return false
}

// contentsText is the path of a file's text in a result of resources/read, as
// [termtext.JSON] reports it.
var contentsText = []string{"result", "contents", "", "text"}

// encodeReply returns mcp-go's reply as a line with the id as the client sent
// it: mcp-go has passed it through float64, which garbles integers above 2^53.
func encodeReply(id json.RawMessage, reply mcp.JSONRPCMessage) ([]byte, error) {
	switch r := reply.(type) {
	case mcp.JSONRPCResponse:
		return encodeResult(id, r.Result)
	case mcp.JSONRPCError:
		return encode(errorReply{mcp.JSONRPC_VERSION, id, r.Error})
	default:
		return nil, fmt.Errorf("unexpected reply %T", reply)
	}
}

func encodeResult(id json.RawMessage, result any) ([]byte, error) {
	return encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{mcp.JSONRPC_VERSION, id, result})
}

type errorReply struct {
	JSONRPC string                  `json:"jsonrpc"`
	ID      json.RawMessage         `json:"id,omitempty"` // nil where nobody knows it
	Error   mcp.JSONRPCErrorDetails `json:"error"`
}

// encode returns the error as a line. It cannot fail: the id comes from valid
// JSON, and the rest are strings and numbers, or data that was decoded from it.
func (f *rpcError) encode() []byte {
	line, _ := encode(errorReply{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      f.id,
		Error:   mcp.NewJSONRPCErrorDetails(f.code, f.message, f.data),
	})
	return line
}

// withToken returns n with the progress token as the client sent it, in place of the
// float64 that mcp-go decoded.
func withToken(n mcp.JSONRPCNotification, token json.RawMessage) mcp.JSONRPCNotification {
	if token == nil || n.Method != string(mcp.MethodNotificationProgress) {
		return n
	}
	var number float64
	sent, ok := n.Params.AdditionalFields["progressToken"].(float64)
	if !ok || json.Unmarshal(token, &number) != nil || number != sent {
		return n
	}
	fields := maps.Clone(n.Params.AdditionalFields) // the handler's own
	fields["progressToken"] = token
	n.Params.AdditionalFields = fields
	return n
}

// errorCode returns the code of an error that encodeReply or rpcError.encode has
// encoded, and false for a result.
func errorCode(id json.RawMessage, line []byte) (code int, ok bool) {
	if _, ok := bytes.CutPrefix(line, head(id)); ok {
		return 0, false
	}
	var reply struct{ Error struct{ Code int } }
	err := json.Unmarshal(line, &reply)
	return reply.Error.Code, err == nil
}

// failure returns the JSON-RPC error for err: an [*rpc.Error] as it is.
func failure(id json.RawMessage, err error) *rpcError {
	if failed, ok := errors.AsType[*rpc.Error](err); ok {
		return &rpcError{id: id, code: failed.Code, message: failed.Message, data: failed.Data}
	}
	return &rpcError{id: id, code: mcp.INTERNAL_ERROR, message: err.Error()}
}

// The parts of a line of encodeReply around the id and the result.
const (
	headOpen  = `{"jsonrpc":"2.0","id":`
	headClose = `,"result":`
	tail      = "}\n"
)

func head(id json.RawMessage) []byte { return appendHead(nil, id) }

func appendHead(line []byte, id json.RawMessage) []byte {
	return append(append(append(line, headOpen...), id...), headClose...)
}
