package policy

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestBlocks(t *testing.T) {
	for _, test := range []struct {
		block networkingv1.IPBlock
		want  string
	}{
		{networkingv1.IPBlock{CIDR: "10.1.2.3/24"}, "10.1.2.0/24"},
		{networkingv1.IPBlock{CIDR: "10.0.0.0/30", Except: []string{"10.0.0.1/32"}}, "10.0.0.0/32 10.0.0.2/31"},
		{networkingv1.IPBlock{CIDR: "10.0.0.0/30", Except: []string{"10.0.0.1/32", "10.0.0.2/31"}}, "10.0.0.0/32"},
		{networkingv1.IPBlock{CIDR: "10.0.0.0/30", Except: []string{"10.0.0.0/8"}}, ""},
		{networkingv1.IPBlock{CIDR: "10.0.0.0/30", Except: []string{"11.0.0.0/8"}}, "10.0.0.0/30"},
		{networkingv1.IPBlock{CIDR: "fd00::/8"}, ""},
	} {
		var got []string
		for _, b := range blocks(&test.block) {
			got = append(got, b.String())
		}
		if g := strings.Join(got, " "); g != test.want {
			t.Errorf("%v: %q, not %q", test.block, g, test.want)
		}
	}
}

// TestDenied has two Pods that may reach nothing: they share a chain, and what they may is
// decided before they are accepted as Pods.
func TestDenied(t *testing.T) {
	s := state{chains: Chains{Prefix: "T", Ports: "1:2"}, policies: []*networkingv1.NetworkPolicy{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a"},
		Spec:       networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}},
	}}}
	for _, p := range []struct{ namespace, ip string }{{"a", "10.0.0.2"}, {"a", "10.0.0.1"}, {"b", "10.0.0.3"}} {
		s.pods = append(s.pods, &pod{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace}}, netip.MustParseAddr(p.ip)})
	}
	s.render()
	var got []string
	for line := range strings.Lines(s.rules) {
		if strings.HasPrefix(line, "-A T-PODS -s") || strings.HasPrefix(line, "-A T-0") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"-A T-PODS -s 10.0.0.1 -j T-0", "-A T-PODS -s 10.0.0.2 -j T-0",
		"-A T-PODS -s 10.0.0.1 -j ACCEPT", "-A T-PODS -s 10.0.0.2 -j ACCEPT", "-A T-PODS -s 10.0.0.3 -j ACCEPT",
		"-A T-0 -j DROP",
	}
	if !slices.Equal(got, want) || len(s.names) != 1 {
		t.Errorf("chains %v, rules\n%s", s.names, strings.Join(got, "\n"))
	}
}
