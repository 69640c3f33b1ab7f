package kubernetes

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// The labels of every Pod and Lease of a driver. Others with labelInstance are never
// touched, unless the instance's Lease has expired.
const (
	labelInstance = "skills-mcp/instance"
	labelEgress   = "skills-mcp/egress" // on Pods whose commands were granted hosts
)

const (
	// loadScript is the loader's: it unpacks an archive that follows a line, and writes
	// that line when it has.
	loadScript = `IFS= read -r line && tar -xpf - -C ` + sandbox.SkillDir + ` && printf %s "$line"`
	// expiry ends Pods that neither their server nor another one removes, in seconds.
	expiry = 24 * 60 * 60
	// loaderMemory is the loader's own memory, beside that of the folder.
	loaderMemory = 32 << 20
	// timerProcesses is the number of processes that keep a Pod's own deadline.
	timerProcesses = 2
	// disk bounds the bytes of a Pod on its node's disk, which are its logs.
	disk = 256 << 20
	// warmCPU and warmMemory are the shares of its limits that a Pod reserves on a node:
	// it waits for most of its life.
	warmCPU, warmMemory = 0.1, 0.125
	// loaderCPU is the loader's limit: it is done before the runner begins.
	loaderCPU = 0.5
	// ownUsers are the ids from which a Pod without a user namespace gets its user, so
	// that the kernel's limits for a user are the Pod's own: they begin at firstUser.
	firstUser, ownUsers = 1 << 20, 1 << 30
)

// A spec describes the Pods that commands like one run in, and what is loaded there.
type spec struct {
	pod     *corev1.Pod // without a name, and without the labels of an owner
	role    string
	image   string
	skill   string
	folder  string
	copies  []copied
	ownUser bool   // the Pod gets a user that no other Pod has
	setup   string // of each shell in the Pod
	key     string // the same for Pods that can replace each other, before they are loaded
}

// newSpec returns the spec for cmd. Its error is about the command.
func newSpec(ctx context.Context, c *cluster, o *Options, cmd *sandbox.Command, role, image string) (*spec, error) {
	if err := shellproto.Check(cmd); err != nil {
		return nil, err
	}
	size, err := c.room(cmd.Folder)
	if err != nil {
		return nil, err
	}
	granted, err := grantVolumes(cmd.Grant, o.Claims, o.Copied)
	if err != nil {
		return nil, err
	}
	own := c.ownUsers(ctx, o)
	s := &spec{role: role, image: image, skill: cmd.Skill, folder: cmd.Folder, copies: granted.copies, ownUser: !own && len(granted.volumes) == len(granted.copies)}
	s.setup = setup(cmd, own || s.ownUser)
	s.pod = &corev1.Pod{Spec: o.podSpec(cmd, image, size, granted, s.setup)}
	if own {
		s.pod.Spec.HostUsers = new(bool)
	}
	s.pod.Labels = map[string]string{}
	if len(cmd.Grant.Hosts) > 0 {
		s.pod.Labels[labelEgress] = "true"
	}
	text, _ := json.Marshal(s.pod) // plain data: it cannot fail
	sum := sha256.Sum256(text)
	s.key = string(sum[:])
	return s, nil
}

// loads returns the same for Pods that are loaded with the same.
func (s *spec) loads() string { return s.key + s.folder + fmt.Sprint(s.copies) }

// on returns s with another folder of the skill, which has the room of the last one.
func (s *spec) on(folder string) *spec {
	other := *s
	other.folder = folder
	return &other
}

// podSpec returns the Pod of commands like cmd.
func (o *Options) podSpec(cmd *sandbox.Command, image string, size int64, granted volumes, setup string) corev1.PodSpec {
	uid, gid := sandbox.User()
	user, group, grace, deadline := int64(uid), int64(gid), int64(1), int64(expiry)
	yes, no := true, false
	s := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		AutomountServiceAccountToken:  &no,
		EnableServiceLinks:            &no,
		Hostname:                      "sandbox",
		DNSPolicy:                     corev1.DNSNone, // names are for the proxy
		DNSConfig:                     &corev1.PodDNSConfig{Nameservers: []string{"127.0.0.1"}},
		TerminationGracePeriodSeconds: &grace,
		ActiveDeadlineSeconds:         &deadline,
		NodeSelector:                  o.NodeSelector,
		PriorityClassName:             o.PriorityClass,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   &yes,
			RunAsUser:      &user,
			RunAsGroup:     &group,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Volumes: append([]corev1.Volume{memory("skill", size), memory("tmp", cmd.Limits.Tmp), memory("out", cmd.Limits.Tmp)}, granted.volumes...),
		Containers: []corev1.Container{
			container(loader, image, loadScript, int64(loaderMemory)+size, loaderCPU, []corev1.VolumeMount{{Name: "skill", MountPath: sandbox.SkillDir}}),
			container(runner, image, setup+shellproto.AttachedScript, cmd.Limits.Memory, cmd.Limits.CPUs, append([]corev1.VolumeMount{
				{Name: "skill", MountPath: sandbox.SkillDir, ReadOnly: true},
				{Name: "tmp", MountPath: "/tmp"},
				{Name: "out", MountPath: sandbox.OutDir},
			}, granted.mounts...)),
		},
	}
	for _, c := range granted.copies {
		s.Containers = append(s.Containers, container(loader+"-"+c.volume, image, loadScript, int64(loaderMemory)+c.size, loaderCPU, []corev1.VolumeMount{{Name: c.volume, MountPath: sandbox.SkillDir}}))
	}
	if o.SeccompProfile != "" {
		s.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &o.SeccompProfile}
	}
	if o.RuntimeClass != "" {
		s.RuntimeClassName = &o.RuntimeClass
	}
	for _, name := range o.ImagePullSecrets {
		s.ImagePullSecrets = append(s.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	for _, t := range o.Tolerations {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return s
}

// container returns a container that runs a script with its standard input.
func container(name, image, script string, memory int64, cpus float64, mounts []corev1.VolumeMount) corev1.Container {
	yes, no := true, false
	list := func(cpuShare, memoryShare float64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewMilliQuantity(max(1, int64(1000*cpus*cpuShare)), resource.DecimalSI),
			corev1.ResourceMemory:           *resource.NewQuantity(int64(float64(memory)*memoryShare), resource.BinarySI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(disk*memoryShare), resource.BinarySI),
		}
	}
	c := corev1.Container{
		Name:            name,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"/bin/sh", "-c", strings.ReplaceAll(script, "$", "$$")}, // a kubelet replaces $$ by $, and $(NAME)
		WorkingDir:      sandbox.SkillDir,
		Stdin:           true,
		StdinOnce:       true, // the end of its connection ends a shell that waits
		Resources:       corev1.ResourceRequirements{Limits: list(1, 1), Requests: list(warmCPU, warmMemory)},
		VolumeMounts:    mounts,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no,
			ReadOnlyRootFilesystem:   &yes,
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	for _, entry := range (&sandbox.Command{}).Environ() {
		key, value, _ := strings.Cut(entry, "=")
		c.Env = append(c.Env, corev1.EnvVar{Name: key, Value: value})
	}
	return c
}

// setup returns the beginning of the runner's script: limits that a Pod has no field for,
// and the end of variables that a kubelet sets in every case. Shells disagree about the
// name of the limit on processes, which counts those of a user, so that only a Pod with
// users of its own can have it.
func setup(cmd *sandbox.Command, ownUsers bool) string {
	l := cmd.Limits
	var b strings.Builder
	b.WriteString("unset")
	for _, name := range []string{"SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTPS", "PORT", "PORT_443_TCP", "PORT_443_TCP_PROTO", "PORT_443_TCP_PORT", "PORT_443_TCP_ADDR"} {
		b.WriteString(" KUBERNETES_" + name)
	}
	b.WriteString("\n")
	limit := func(flags string, value int64) {
		for _, flag := range strings.Split(flags, "") {
			fmt.Fprintf(&b, "(ulimit -%[1]s %[2]d) 2>/dev/null && ulimit -%[1]s %[2]d || ", flag, value)
		}
		b.WriteString(":\n")
	}
	limit("n", l.Files)
	limit("c", 0)
	const block = 512
	size := 2 * l.Tmp // above the size of /tmp, so that a full /tmp is an error there and not a signal
	if cmd.Grant.Write {
		size = max(l.File, size)
	}
	limit("f", size/block)
	limit("i", sandbox.MaxSignals)
	limit("q", 0)
	fmt.Fprintf(&b, "prlimit --pid $$ --sigpending=%d --msgqueue=0 2>/dev/null\n", sandbox.MaxSignals) // dash knows neither
	if ownUsers {
		limit("up", l.PIDs+timerProcesses)
	}
	return b.String()
}

// of returns a Pod of s for an instance.
func (s *spec) of(instance string) *corev1.Pod {
	p := s.pod.DeepCopy()
	p.Name = "skills-mcp-" + instance + "-" + strings.ToLower(rand.Text()[:10])
	p.Labels[labelInstance] = instance
	if n, err := rand.Int(rand.Reader, big.NewInt(ownUsers)); s.ownUser && err == nil {
		id := firstUser + n.Int64()
		p.Spec.SecurityContext.RunAsUser, p.Spec.SecurityContext.RunAsGroup = &id, &id
	}
	return p
}

// setting returns the setting that names the image of a role.
func setting(role string) string { return "images." + role }

// unknownRole is the failure of a command whose role has no image.
func unknownRole(role string, roles []string) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("no image is configured for the role %q; there are %q", role, roles),
		Remedy: fmt.Sprintf("set %s in the configuration", setting(role)),
	}
}
