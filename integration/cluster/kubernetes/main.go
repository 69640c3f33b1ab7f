// Command kubernetes is the parts of Kubernetes in one program: one build, one file in the
// page cache. Its first argument names the part.
package main

import (
	"context"
	"fmt"
	"os"
	_ "time/tzdata" // for CronJobs

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/skillsmcp/skills-mcp/integration/cluster/policy"
)

var parts = map[string]func() *cobra.Command{
	"apiserver":   apiserver.NewAPIServerCommand,
	"scheduler":   func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"controllers": controllers.NewControllerManagerCommand,
	"kubelet":     func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"kubectl":     kubectl.NewDefaultKubectlCommand,
	"policy":      policy.NewCommand,
}

func main() {
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "Usage: kubernetes apiserver|scheduler|controllers|kubelet|kubectl|policy [FLAGS]")
		os.Exit(2)
	}
	part := os.Args[1]
	os.Args = append([]string{part}, os.Args[2:]...)
	os.Exit(cli.Run(parts[part]()))
}
