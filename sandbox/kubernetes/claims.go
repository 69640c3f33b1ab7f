package kubernetes

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// volumes are the volumes of a Pod beyond those of every Pod, and their mounts in the
// runner.
type volumes struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

// grantVolumes returns the volumes with the workspaces and data that cmd was granted.
func (d *Driver) grantVolumes(cmd *sandbox.Command) (volumes, error) {
	if len(cmd.Grant.Workspaces) > 0 || cmd.Grant.Data != "" {
		return volumes{}, &sandbox.UnavailableError{
			Reason: "the cluster has no claim with the granted folders",
			Remedy: "name the claim that the server and the Pods share in sandbox.kubernetes.claims",
		}
	}
	return volumes{}, nil
}
