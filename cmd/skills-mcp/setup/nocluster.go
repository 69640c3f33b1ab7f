//go:build !cluster

package setup

// hasCluster says whether this build has the driver for Kubernetes, whose libraries make it
// larger.
const hasCluster = false

// cluster is not called: the configuration of such a driver is refused.
func (s *Sandboxes) cluster() CheckedDriver { return nil }
