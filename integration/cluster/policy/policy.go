// Package policy enforces NetworkPolicies on one machine with its packet filter.
//
// It knows selectors of Pods and namespaces, address blocks, and ports by number, range and
// name. A Pod's address comes from what the network plugins wrote when they made it, which
// is before the Pod's containers start; an address of no known Pod reaches nothing.
package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// A pod is a Pod with an address on the Pods' network.
type pod struct {
	*corev1.Pod
	ip netip.Addr
}

// A Chains has the names of the chains that are written, and the ports of the machine that
// Pods reach where no policy says otherwise.
type Chains struct {
	Prefix, Ports string
}

// NewCommand returns the command that enforces until it is killed.
func NewCommand() *cobra.Command {
	var kubeconfig, results string
	var chains Chains
	c := &cobra.Command{Use: "policy", RunE: func(c *cobra.Command, _ []string) error {
		return run(context.Background(), kubeconfig, results, chains)
	}}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	c.Flags().StringVar(&results, "results", "/var/lib/cni/results", "where network plugins write what they made")
	c.Flags().StringVar(&chains.Prefix, "chains", "", "how the names of chains begin")
	c.Flags().StringVar(&chains.Ports, "ports", "", "ports of this machine that Pods reach")
	return c
}

func run(ctx context.Context, kubeconfig, results string, chains Chains) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(results, 0o700); err != nil {
		return err
	}
	if err := files.Add(results); err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	change := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, namespaces, policies := factory.Core().V1().Pods(), factory.Core().V1().Namespaces(), factory.Networking().V1().NetworkPolicies()
	for _, i := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), policies.Informer()} {
		if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { change() }, UpdateFunc: func(any, any) { change() }, DeleteFunc: func(any) { change() },
		}); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var written state
	for {
		s := state{chains: chains, namespaces: map[string]labels.Set{}}
		var err error
		if s.policies, err = policies.Lister().List(labels.Everything()); err != nil {
			return err
		}
		all, err := namespaces.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		for _, n := range all {
			s.namespaces[n.Name] = n.Labels
		}
		for ip, name := range addresses(results) {
			namespace, name, _ := strings.Cut(name, "/")
			if p, err := pods.Lister().Pods(namespace).Get(name); err == nil {
				s.pods = append(s.pods, &pod{p, ip})
			}
		}
		if s.render(); s.rules != written.rules {
			if err := s.write(ctx, written.names); err != nil {
				fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), err)
				time.Sleep(100 * time.Millisecond) // another program may hold the packet filter
				continue
			}
			written = s
		}
		select {
		case <-changed:
		case <-files.Events:
		case err := <-files.Errors:
			return err
		}
	}
}

// addresses reads which address is which Pod's, as NAMESPACE/NAME. A file that is being
// written is read again when it has changed.
func addresses(results string) map[netip.Addr]string {
	found := map[netip.Addr]string{}
	files, _ := filepath.Glob(filepath.Join(results, "*"))
	for _, file := range files {
		var made struct {
			Args   [][2]string `json:"cniArgs"`
			Result struct {
				IPs []struct {
					Address netip.Prefix `json:"address"`
				} `json:"ips"`
			} `json:"result"`
		}
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &made) != nil {
			continue
		}
		args := map[string]string{}
		for _, a := range made.Args {
			args[a[0]] = a[1]
		}
		for _, ip := range made.Result.IPs {
			if a := ip.Address.Addr(); a.Is4() && !a.IsLoopback() {
				found[a] = args["K8S_POD_NAMESPACE"] + "/" + args["K8S_POD_NAME"]
			}
		}
	}
	return found
}

// A state has the rules of a node, and the objects that they follow from.
type state struct {
	chains     Chains
	pods       []*pod
	namespaces map[string]labels.Set
	policies   []*networkingv1.NetworkPolicy

	rules string
	names []string // of chains for groups of Pods with the same rules
}

// render writes the rules, as iptables-restore reads them. A packet leaves the chain of its
// sender's policies, and the one of its receiver's, if one of their rules allows it.
func (s *state) render() {
	slices.SortFunc(s.pods, func(a, b *pod) int { return a.ip.Compare(b.ip) })
	slices.SortFunc(s.policies, func(a, b *networkingv1.NetworkPolicy) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	toPods, toHost := s.chains.Prefix+"-PODS", s.chains.Prefix+"-HOST"
	var pods, host, bodies strings.Builder
	for chain, b := range map[string]*strings.Builder{toPods: &pods, toHost: &host} {
		fmt.Fprintf(b, "-A %s -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT\n", chain)
	}
	groups := map[string]string{}
	group := func(rules []string) string {
		body := strings.Join(rules, "\n")
		name, ok := groups[body]
		if !ok {
			name = fmt.Sprintf("%s-%d", s.chains.Prefix, len(groups))
			groups[body] = name
			s.names = append(s.names, name)
			for _, r := range rules {
				fmt.Fprintf(&bodies, "-A %s %s -j RETURN\n", name, r)
			}
			fmt.Fprintf(&bodies, "-A %s -j DROP\n", name)
		}
		return name
	}
	for _, p := range s.pods {
		if rules, isolated := s.of(p, networkingv1.PolicyTypeEgress); isolated {
			name := group(rules)
			fmt.Fprintf(&pods, "-A %s -s %s -j %s\n", toPods, p.ip, name)
			fmt.Fprintf(&host, "-A %s -s %s -j %s\n", toHost, p.ip, name)
		}
		if rules, isolated := s.of(p, networkingv1.PolicyTypeIngress); isolated {
			fmt.Fprintf(&pods, "-A %s -d %s -j %s\n", toPods, p.ip, group(rules))
		}
	}
	for _, p := range s.pods {
		fmt.Fprintf(&pods, "-A %s -s %s -j ACCEPT\n", toPods, p.ip)
		fmt.Fprintf(&host, "-A %s -s %s -p tcp --dport %s -j ACCEPT\n", toHost, p.ip, s.chains.Ports)
	}
	s.rules = pods.String() + host.String() + bodies.String()
}

// of returns what the policies of one direction allow a Pod, and whether there are any.
func (s *state) of(p *pod, direction networkingv1.PolicyType) (rules []string, isolated bool) {
	for _, policy := range s.policies {
		spec := policy.Spec
		if policy.Namespace != p.Namespace || !selects(&spec.PodSelector, p.Labels) || !slices.Contains(types(spec), direction) {
			continue
		}
		isolated = true
		if direction == networkingv1.PolicyTypeEgress {
			for _, r := range spec.Egress {
				rules = append(rules, s.allow(policy.Namespace, "-d", r.To, r.Ports, nil)...)
			}
			continue
		}
		for _, r := range spec.Ingress {
			rules = append(rules, s.allow(policy.Namespace, "-s", r.From, r.Ports, p)...)
		}
	}
	return rules, isolated
}

func types(spec networkingv1.NetworkPolicySpec) []networkingv1.PolicyType {
	if len(spec.PolicyTypes) > 0 {
		return spec.PolicyTypes
	}
	types := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	if len(spec.Egress) > 0 {
		types = append(types, networkingv1.PolicyTypeEgress)
	}
	return types
}

// allow returns the matches of one rule: side is -s or -d, where the peers are, and to the
// Pod that receives, if it is not the peer.
func (s *state) allow(namespace, side string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, to *pod) []string {
	var rules []string
	add := func(peer string, to *pod) {
		for _, port := range matches(ports, to) {
			rules = append(rules, strings.TrimSpace(peer+" "+port))
		}
	}
	if len(peers) == 0 {
		add("", to)
	}
	for _, peer := range peers {
		if peer.IPBlock != nil {
			for _, block := range blocks(peer.IPBlock) {
				add(side+" "+block.String(), to)
			}
			continue
		}
		for _, p := range s.pods {
			if peer.NamespaceSelector == nil && p.Namespace != namespace ||
				peer.NamespaceSelector != nil && !selects(peer.NamespaceSelector, s.namespaces[p.Namespace]) ||
				peer.PodSelector != nil && !selects(peer.PodSelector, p.Labels) {
				continue
			}
			receiver := to
			if receiver == nil {
				receiver = p
			}
			add(side+" "+p.ip.String(), receiver)
		}
	}
	return rules
}

// matches returns what matches ports, or all of them if there are none.
func matches(ports []networkingv1.NetworkPolicyPort, to *pod) []string {
	if len(ports) == 0 {
		return []string{""}
	}
	var found []string
	for _, p := range ports {
		protocol := "tcp"
		if p.Protocol != nil {
			protocol = strings.ToLower(string(*p.Protocol))
		}
		match := "-p " + protocol
		switch {
		case p.Port == nil:
		case p.Port.Type == intstr.Int && p.EndPort != nil:
			match += fmt.Sprintf(" --dport %d:%d", p.Port.IntVal, *p.EndPort)
		case p.Port.Type == intstr.Int:
			match += fmt.Sprintf(" --dport %d", p.Port.IntVal)
		default:
			number := named(p.Port.StrVal, protocol, to)
			if number == 0 {
				continue
			}
			match += fmt.Sprintf(" --dport %d", number)
		}
		found = append(found, match)
	}
	return found
}

func named(name, protocol string, p *pod) int32 {
	if p == nil {
		return 0
	}
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.Name == name && strings.EqualFold(string(port.Protocol), protocol) {
				return port.ContainerPort
			}
		}
	}
	return 0
}

// blocks returns the IPv4 addresses of a block without those that it excepts.
func blocks(b *networkingv1.IPBlock) []netip.Prefix {
	all, err := netip.ParsePrefix(b.CIDR)
	if err != nil || !all.Addr().Is4() {
		return nil
	}
	found := []netip.Prefix{all.Masked()}
	for _, text := range b.Except {
		except, err := netip.ParsePrefix(text)
		if err != nil {
			return nil
		}
		var rest []netip.Prefix
		for _, p := range found {
			rest = append(rest, without(p, except.Masked())...)
		}
		found = rest
	}
	return found
}

func without(p, except netip.Prefix) []netip.Prefix {
	switch {
	case !p.Overlaps(except):
		return []netip.Prefix{p}
	case except.Bits() <= p.Bits():
		return nil
	}
	low := netip.PrefixFrom(p.Addr(), p.Bits()+1)
	a := p.Addr().As4()
	a[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	high := netip.PrefixFrom(netip.AddrFrom4(a), p.Bits()+1)
	return append(without(low, except), without(high, except)...)
}

func selects(selector *metav1.LabelSelector, set labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set)
}

// write puts the rules into the packet filter at once, and removes the chains of before.
func (s *state) write(ctx context.Context, before []string) error {
	var in bytes.Buffer
	fmt.Fprintf(&in, "*filter\n:%s-PODS - [0:0]\n:%[1]s-HOST - [0:0]\n", s.chains.Prefix)
	for _, name := range s.names {
		fmt.Fprintf(&in, ":%s - [0:0]\n", name)
	}
	in.WriteString(s.rules)
	for _, name := range before {
		if !slices.Contains(s.names, name) {
			fmt.Fprintf(&in, "-F %s\n-X %[1]s\n", name)
		}
	}
	in.WriteString("COMMIT\n")
	c := exec.CommandContext(ctx, "iptables-restore", "--noflush", "--wait", "5")
	c.Stdin = &in
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("iptables-restore: %w: %s", err, out)
	}
	return nil
}
