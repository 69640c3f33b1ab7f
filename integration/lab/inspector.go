package lab

import (
	"errors"
	"os"
	"testing"
)

// NodeTools returns the folder of the Node programs that integration/node-tools
// installs.
func NodeTools(t *testing.T) string {
	t.Helper()
	tools := os.Getenv("SKILLS_MCP_TEST_TOOLS")
	if tools == "" {
		Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", errors.New("SKILLS_MCP_TEST_TOOLS does not name the folder of MCP Inspector, the conformance suite and the SDKs; integration/node-tools installs them and prints its name"))
	}
	return tools
}
