package transport

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// An Observer is told of requests and sessions, to measure and to log them. Its methods
// may be called concurrently, and must not block.
type Observer interface {
	// Begin is called with a request before it is handled. It returns the context of the
	// handler, and a function that is called once with the request's end.
	Begin(ctx context.Context, r Observed) (context.Context, func(Ended))
	// SessionEnded is called when the session of a legacy client has ended.
	SessionEnded(began time.Time, client Client)
}

// A Client describes who sends requests, and how.
type Client struct {
	Principal identity.Principal
	Version   string // of the protocol; "" before it is known
	Pipe      bool   // standard input and output, not HTTP
	Stream    bool   // that, or a stream of several requests over HTTP
}

// An Observed request is one that is about to be handled.
type Observed struct {
	Client
	Method  string // as it was sent: the server may not know it
	ID      json.RawMessage
	Params  json.RawMessage
	HasTool func(name string) bool // reports whether the server has a tool of a name
}

// Ended describes the end of a request.
type Ended struct {
	Code       int  // of the JSON-RPC error; 0 is none
	ToolFailed bool // the result has isError
	Bytes      int  // of the reply
}
