// Package integration holds the tests of the whole: the built binary with real
// engines, real clients and real files, and the rules that the repository
// keeps. Below it, agents, clients, consent, page, packages and soak have the tests of one
// subject each, and lab what they share. Needs of lab lists requirements that a machine
// may lack.
//
// Tests skip where the machine lacks one, and say so to "go test -v" alone; the
// command integration/needs reports it. These variables turn such skips into
// failures:
//
//	SKILLS_MCP_REQUIRE_ENGINE=1   a Docker engine with the test image (integration/engine)
//	SKILLS_MCP_REQUIRE_SANDBOX=1  namespaces for the native sandbox
//	SKILLS_MCP_REQUIRE_TOOLS=1    Node programs and libraries (integration/node-tools)
package integration
