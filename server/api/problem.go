package api

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// Status returns the HTTP status of a code.
func Status(code run.Code) int {
	switch code {
	case run.InvalidParam:
		return http.StatusBadRequest
	case run.NotFound:
		return http.StatusNotFound
	case run.PermissionDenied, run.ApprovalRequired:
		return http.StatusForbidden
	case run.Unavailable:
		return http.StatusServiceUnavailable
	case run.Busy:
		return http.StatusTooManyRequests
	case run.Timeout:
		return http.StatusGatewayTimeout
	case run.ExecutionError:
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}
