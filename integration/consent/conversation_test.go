package consent

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// TestConversations runs the scripts in which a client speaks with a server, with
// each driver. Their command mcp reads a conversation from a file:
//
//	mcp talk                    a modern client that can be asked
//	mcp --tasks talk            one that knows tasks: each call that takes 5 s is one
//	mcp --legacy talk           a client of 2025-11-25
//	mcp talk --workspace DIR    more arguments are those of skills-mcp serve
//
// Each line of the file is one step:
//
//	> METHOD PARAMS    send a request
//	= RESULT           answer the request that the server sent last
//	< PATTERN          the next message matches; progress and log messages are passed over
//	~ PATTERN          send the last request again until its response matches
//
// In a PATTERN, … stands for any text, and {{name}} for any text without quotes, which
// later lines can use by the same name.
func TestConversations(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		testscript.Run(t, lab.Params("testdata/mcp", driver))
	})
}
