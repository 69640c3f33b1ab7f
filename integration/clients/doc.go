// Package clients tests MCP clients and transports against the built binary.
package clients
