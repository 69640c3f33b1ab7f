// Package transport carries MCP between clients and a server: over standard
// input and output, over Streamable HTTP, and over the deprecated HTTP with
// server-sent events. Both generations of the protocol are served, decided
// request by request.
//
// mcp-go is the protocol core: it handles messages. This package replaces its
// transports, between messages and bytes. It makes guarantees that they do not:
//
//   - Notifications of a handler are written before its result, in order, to the
//     stream of its own request. None is lost: a client that reads slowly slows the
//     handler down (backpressure).
//   - A cancelled request, queued or running, is never answered. No client cancels
//     another's. Cancellations and pings never wait for a call.
//   - Change notices go to legacy clients that have initialized, and to modern ones
//     that listen, with the id of their subscription.
//   - Ids and progress tokens come back as they were sent, however large.
//   - Messages, requests in flight, sessions, streams and unread replies are bounded,
//     and over HTTP also the time in which a client sends or reads a message.
//   - A panic costs one request, not the server.
//
// Some of the code would be simpler if mcp-go did not force it:
//
//   - Every request has a [session] of its own: the session in the context is all
//     that tells mcp-go which request a notification belongs to.
//   - A session waits for room in NotificationChannel ([mailbox]): mcp-go asks for the
//     channel before each send, and drops the notification if the channel is full.
//   - A handler's typed error reaches the reply by a hook and two fields of the
//     session ([OnError]): mcp-go has one error code for all of them, and handlers of
//     tools cannot return another type of result ([rpc.Other]).
//   - Ids and progress tokens are encoded again (withToken, encodeReply): mcp-go
//     decodes them as float64.
//   - A modern request has a peer of its own: mcp-go initializes the session of every
//     modern request, and an initialized session gets broadcasts.
//   - A subscription's filter is active before it is set, and a feed holds notices
//     back until the acknowledgement: mcp-go registers the session first.
//
// Start with [ServeStdio] or [NewHTTP].
package transport
