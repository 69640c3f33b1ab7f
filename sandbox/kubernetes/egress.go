package kubernetes

import "github.com/skillsmcp/skills-mcp/sandbox"

// proxied serves cmd a proxy to its hosts, if it was granted any, and returns the
// variables that name it. The returned function ends that, and returns the connections.
func (d *Driver) proxied(cmd *sandbox.Command) (env []string, connections func() []sandbox.Connection, err error) {
	if len(cmd.Grant.Hosts) > 0 {
		return nil, nil, &sandbox.UnavailableError{
			Reason: "the server has no address at which Pods reach its proxy to the granted hosts",
			Remedy: "set sandbox.kubernetes.egress.listen",
		}
	}
	return nil, func() []sandbox.Connection { return nil }, nil
}
