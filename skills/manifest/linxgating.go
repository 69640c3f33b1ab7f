package manifest

import "github.com/skillsmcp/skills-mcp/skills"

// linX reads the requirements of LinX:
//
//	gating: {binaries: [jq], env_vars: [KEY]}
//	required_capabilities: [network]
func linX(r *skills.Requires, top needs) {
	r.Capabilities = top.add(r.Capabilities, "required_capabilities")
	gating, ok := top.in("gating")
	if !ok {
		return
	}
	r.Bins = gating.add(r.Bins, "binaries")
	r.Env = gating.add(r.Env, "env_vars")
}
