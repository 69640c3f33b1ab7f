// Package transport carries MCP between clients and a server: over standard
// input and output, over Streamable HTTP, and over the deprecated HTTP with
// server-sent events. Both generations of the protocol are served, decided
// request by request.
//
// mcp-go stays the protocol core: it answers what a request means. This
// package is what stands between it and the bytes, in place of mcp-go's own
// transports. It keeps these promises, which they do not:
//
//   - what a handler sends while it runs is written before its result, in
//     order, to the stream of its own request, and none of it is lost: a client
//     that reads slowly slows the handler down;
//   - a cancelled request, queued or running, is never answered, nobody cancels
//     another's, and the reading of cancellations and pings never waits for a
//     call;
//   - change notices go to the legacy clients that may have them, and to modern
//     ones that listen, with the name of their subscription;
//   - over HTTP a legacy client finds its call again after it has lost the
//     connection;
//   - ids and progress tokens come back as they were sent, however large;
//   - messages, requests in flight, sessions, streams and replies not yet taken
//     are bounded, and so is the time that a client may take over HTTP to send a
//     message or to take one;
//   - a panic costs one request, not the server.
//
// Start with [ServeStdio] or [NewHTTP].
package transport
