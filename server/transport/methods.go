package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// extra answers a request of a method that mcp-go does not know, as mcp-go
// answers its own.
func (e *edge) extra(ctx context.Context, p *peer, m message, method rpc.Method) []byte {
	info, err := protocolInfo(m)
	if err != nil {
		return failure(m.id, err).encode()
	}
	if info.Modern {
		p.introduce(info)
	}
	result, err := method.Handle(mcpserver.WithRequestProtocolInfo(ctx, info), m.params)
	if err != nil {
		e.log.Debug("a method failed", "method", m.method, "err", err)
		return failure(m.id, err).encode()
	}
	return e.result(m, result, method)
}

// result is the reply with a result that is not mcp-go's.
func (e *edge) result(m message, result any, method rpc.Method) []byte {
	var err error
	if m.modern {
		if result, err = e.stamped(result, method.Cacheable); err != nil {
			return e.unencodable(m, err)
		}
	}
	line, err := encodeResult(m.id, result)
	if err != nil {
		return e.unencodable(m, err)
	}
	return line
}

// failure is what an error is answered with.
func failure(id json.RawMessage, err error) *fault {
	if failed, ok := errors.AsType[*rpc.Error](err); ok {
		return &fault{id: id, code: failed.Code, message: failed.Message, data: failed.Data}
	}
	return &fault{id: id, code: mcp.INTERNAL_ERROR, message: err.Error()}
}

// protocolInfo reads what a modern request says of its client (SEP-2575).
func protocolInfo(m message) (*mcpserver.RequestProtocolInfo, error) {
	var params struct {
		Meta *mcp.Meta `json:"_meta"`
	}
	if !m.modern || json.Unmarshal(m.params, &params) != nil {
		return &mcpserver.RequestProtocolInfo{}, nil
	}
	meta := params.Meta
	info := &mcpserver.RequestProtocolInfo{
		Modern: true, ProtocolVersion: meta.ProtocolVersion(), ClientInfo: meta.ClientInfo(),
		ClientCapabilities: meta.ClientCapabilities(), LogLevel: meta.LogLevel(),
	}
	if info.ClientCapabilities == nil {
		return nil, rpc.InvalidParams("missing or invalid _meta field "+mcp.MetaKeyClientCapabilities, nil)
	}
	return info, nil
}

// stamped adds to a result what every result of the modern protocol has: its
// type, the server's name, and how long it may be kept where it may.
func (e *edge) stamped(result any, cacheable bool) (any, error) {
	encoded, err := encode(result)
	if err != nil {
		return nil, err
	}
	meta := map[string]any{mcp.MetaKeyServerInfo: e.Info}
	stamps := map[string]any{"resultType": mcp.ResultTypeComplete}
	if cacheable {
		stamps["ttlMs"], stamps["cacheScope"] = rpc.TTL.Milliseconds(), rpc.Scope
	}
	var fields map[string]json.RawMessage // as they are: a large integer stays whole
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("the result is no object: %w", err)
	}
	for key, value := range fields {
		stamps[key] = value
	}
	if own := fields["_meta"]; own != nil {
		if err := json.Unmarshal(own, &meta); err != nil {
			return nil, fmt.Errorf("the result's _meta is no object: %w", err)
		}
	}
	stamps["_meta"] = meta
	return stamps, nil
}
