package run_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/run"
)

func rules(t *testing.T, hosts ...string) []egress.Rule {
	t.Helper()
	var all []egress.Rule
	for _, host := range hosts {
		rule, err := egress.ParseRule(host)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rule)
	}
	return all
}

// A skill gets the hosts that it declares once a person has confirmed it; addresses that
// are not public only where the operator grants them, too.
func TestHosts(t *testing.T) {
	for _, test := range []struct {
		name, fields string
		granted      []string
		want         []string
		err          string // a part of it
	}{
		{"granted", `class: mutating` + "\n" + `sandbox: {network: ["API.example.com:443"]}`, []string{"api.example.com"}, []string{"api.example.com:443"}, ""},
		{"dangerous", `class: dangerous` + "\n" + `sandbox: {network: [a.example.com, b.example.com]}`, nil, []string{"a.example.com", "b.example.com"}, ""},
		{"not declared", `class: mutating`, []string{"api.example.com"}, nil, ""},
		{"safe", `sandbox: {network: [api.example.com]}`, nil, []string{"api.example.com"}, ""},
		{"a private address that is granted", `sandbox: {network: ["10.1.2.3:8080"]}`, []string{"10.1.2.3:8080"}, []string{"10.1.2.3:8080"}, ""},
		{"a private address", `class: mutating` + "\n" + `sandbox: {network: ["10.1.2.3:8080"]}`, []string{"api.example.com"}, nil, `connects to 10.1.2.3:8080, which is not public and not granted: sandbox.network.allow in the configuration lacks "10.1.2.3:8080"`},
		{"one of them a private address", `class: mutating` + "\n" + `sandbox: {network: ["api.example.com", "10.1.2.3:22"]}`, []string{"10.1.2.3"}, nil, `connects to 10.1.2.3:22, which is not public`},
	} {
		t.Run(test.name, func(t *testing.T) {
			driver := &recorder{}
			x := newExecutor(t, driver, nil, rules(t, test.granted...)...)
			_, err := x.Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh\n"+test.fields), Call: person()})
			if test.err != "" {
				var e *run.Error
				if !errors.As(err, &e) || e.Code != run.PermissionDenied || !strings.Contains(e.Message, test.err) || e.Retryable {
					t.Errorf("error %v, want %q", err, test.err)
				}
				if len(driver.commands) > 0 {
					t.Error("it was run all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, driver.commands[0].Grant.Hosts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWorkspaceIsGrantedNothing grants a workspace's skill neither hosts nor
// variables, whatever its name.
func TestWorkspaceIsGrantedNothing(t *testing.T) {
	driver := &recorder{}
	x := newExecutor(t, driver, &run.Options{Variables: run.Environ{"KEY=secret"}}, rules(t, "api.example.com")...)
	for _, fields := range []string{"sandbox: {env: [KEY]}", "metadata: {openclaw: {requires: {env: [KEY]}}}"} {
		skill := demo(t, "script: run.sh\n"+fields)
		skill.Workspace = "/work"
		if _, err := x.Run(t.Context(), run.Request{Skill: skill, Call: person()}); err != nil {
			t.Errorf("%s: %v", fields, err)
		}
	}
	for _, command := range driver.commands {
		if env := strings.Join(command.Env, " "); strings.Contains(env, "KEY") {
			t.Errorf("environment %s", env)
		}
	}
	for _, fields := range []string{"class: mutating", "class: mutating\nsandbox: {env: [KEY]}", "sandbox: {network: [api.example.com]}"} {
		skill := demo(t, "script: run.sh\n"+fields)
		skill.Workspace = "/work"
		_, err := x.Run(t.Context(), run.Request{Skill: skill, Call: person()})
		wantError(t, err, run.ApprovalRequired, "skill demo is mutating, and of the workspace /work, whose skills are granted nothing before the person trusts it")
		if command, _, err := x.Plan(t.Context(), skill, nil); err == nil || command.Grant.Write || len(command.Grant.Hosts) > 0 || slices.Contains(command.Env, "KEY") {
			t.Errorf("the plan has a grant: %+v, %v", command.Grant, err)
		}
	}
}

// internet is one host, at one public address, which says hello.
type internet struct{ server string }

func (internet) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func (i internet) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, i.server)
}

// All the way, but for the sandbox: the driver gives the script a proxy to what
// it was granted, and what the script did with it is in the outcome.
func TestFromDeclarationToRecord(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer site.Close()
	world := internet{site.Listener.Addr().String()}
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		proxy, err := egress.New(cmd.Grant, &egress.Options{Resolver: world, Dial: world.dial})
		if err != nil {
			return nil, err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		served := make(chan error, 1)
		go func() { served <- proxy.Serve(listener) }()
		through := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: listener.Addr().String()})}
		for _, address := range []string{"http://api.example.com/", "http://other.example.com/"} {
			response, err := (&http.Client{Transport: through}).Get(address)
			if err != nil {
				return nil, err
			}
			_, _ = io.Copy(cmd.Stdout, response.Body)
			_ = response.Body.Close()
		}
		return &sandbox.Exit{Connections: proxy.Connections()}, errors.Join(proxy.Close(), <-served)
	}}
	x := newExecutor(t, driver, nil, rules(t, "*.example.com")...)
	skill := demo(t, "script: run.sh\nclass: mutating\nsandbox: {network: [api.example.com]}")
	outcome, err := x.Run(t.Context(), run.Request{Skill: skill, Call: person()})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(outcome.Stdout.Bytes()), "helloskills-mcp: other.example.com:80 is not among the hosts that this skill was granted: api.example.com\n"; got != want {
		t.Errorf("the script got %q, want %q", got, want)
	}
	c := outcome.Connections
	if len(c) != 2 || c[0].Host != "api.example.com:80" || c[0].Address != "93.184.216.34:80" || c[0].Got == 0 || c[1].Refused == "" {
		t.Errorf("connections: %+v", c)
	}
}

func TestWarm(t *testing.T) {
	for fields, want := range map[string]int{"": 0, "\nsandbox: {warm: false}": -1, "\nsandbox: {warm: 4}": 4} {
		driver := &recorder{}
		if _, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh"+fields)}); err != nil {
			t.Fatal(err)
		}
		if got := driver.commands[0].Warm; got != want {
			t.Errorf("%q: warm %d, want %d", fields, got, want)
		}
	}
}
