package run_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// fails returns the outcome of a skill whose script ends with a code and an error output.
func fails(t *testing.T, skill *skills.Skill, o *run.Options, code int, stderr string, exit *sandbox.Exit, args map[string]any) *run.Outcome {
	t.Helper()
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = cmd.Stderr.Write([]byte(stderr))
		exit.Code = code
		return exit, nil
	}}
	outcome, err := newExecutor(t, driver, o).Run(t.Context(), run.Request{Skill: skill, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// A script without a network that asks for a secret is told of the commands that give it both.
func TestHintOfNetworkAndSecret(t *testing.T) {
	const want = "it has no network, nor the secret TOKEN that it asks for; a person can give it both: skills-mcp secret set TOKEN and then skills-mcp secret grant demo TOKEN --host HOST"
	skill := declaring(t, "script: run.sh\nsecrets: [TOKEN]", "run.sh", "")
	o := fails(t, skill, nil, 1, "curl: (6) Could not resolve host: wttr.in", &sandbox.Exit{}, nil)
	if got := strings.ReplaceAll(o.Hint, skill.QualifiedName(), "demo"); got != want {
		t.Errorf("%q", got)
	}
}

// A script that fails for want of a network is told so, and another one is not: by the texts
// of programs and libraries, and without one by its source.
func TestHintOfNetwork(t *testing.T) {
	const remedy = "it has no network, and that may be why; a person can give it hosts: skills-mcp grant demo --network HOST:443"
	const fetches = "import requests, sys\ntry:\n    requests.get(u)\nexcept Exception:\n    sys.exit(1)\n"
	for name, test := range map[string]struct {
		script string
		code   int
		said   string
		want   bool
	}{
		"curl":                    {"", 1, "curl: (6) Could not resolve host: wttr.in", true},
		"an address":              {"", 1, "curl: (7) Failed to connect to 1.1.1.1 port 443: Couldn't connect to server", true},
		"wget":                    {"", 4, "wget: unable to resolve host address ‘wttr.in’", true},
		"git":                     {"", 128, "fatal: unable to access 'https://x/': Could not resolve host: x", true},
		"python":                  {"", 1, "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", true},
		"requests":                {"", 1, "Max retries exceeded with url: / (Caused by NewConnectionError('Failed to establish a new connection'))", true},
		"a socket":                {"", 1, "OSError: [Errno 101] Network is unreachable", true},
		"node":                    {"", 1, "TypeError: fetch failed", true},
		"node, DNS":               {"", 1, "Error: getaddrinfo EAI_AGAIN wttr.in", true},
		"go":                      {"", 1, "dial tcp: lookup wttr.in: no such host", true},
		"java":                    {"", 1, "java.net.UnknownHostException: wttr.in", true},
		"a browser":               {"", 1, "page.goto: net::ERR_NAME_NOT_RESOLVED at https://wttr.in", true},
		"curl, silent":            {"set -e\nx=$(curl -s $1)\n", 6, "", true},
		"curl, half silent":       {"set -e\necho Asking >&2\nx=$(curl -s $1)\n", 7, "Asking", true},
		"a silent script":         {fetches, 1, "", true},
		"in its own words":        {fetches, 2, "Error: could not fetch the forecast", true},
		"its own code":            {"exit 6\n", 6, "", false},
		"silent, without network": {"exit 1\n", 1, "", false},
		"a comment":               {"# like curl\nexit 1\n", 1, "", false},
		"another failure":         {fetches, 1, "KeyError: 'x'", false},
		"a missing file":          {fetches, 1, "FileNotFoundError: [Errno 2] No such file or directory: 'x'", false},
		"usage":                   {fetches, 2, "error: the following arguments are required: city", false},
		"well":                    {fetches, 0, "Could not resolve host: one of two", false},
	} {
		t.Run(name, func(t *testing.T) {
			skill := declaring(t, "script: run.sh", "run.sh", test.script)
			o := fails(t, skill, nil, test.code, test.said, &sandbox.Exit{}, nil)
			if want := strings.ReplaceAll(remedy, "demo", skill.QualifiedName()); strings.Contains(o.Hint, want) != test.want {
				t.Errorf("hint %q; of the network: %t", o.Hint, test.want)
			}
		})
	}
	refused := &sandbox.Exit{Connections: []sandbox.Connection{{Refused: "api.x:443 is not among the hosts that this skill was granted: wttr.in:443"}}}
	if o := fails(t, demo(t, "script: run.sh"), nil, 1, "no", refused, nil); !strings.HasPrefix(o.Hint, refused.Connections[0].Refused+"; a person can give it another one: skills-mcp grant demo --network") {
		t.Errorf("a host that is not granted: %q", o.Hint)
	}
}

// A skill of a workspace that is not trusted is given nothing, and the way to that begins
// with trust.
func TestHintOfTrust(t *testing.T) {
	skill := *demo(t, "script: run.sh")
	skill.Workspace = "/work"
	for said, want := range map[string]string{
		"Could not resolve host: x":                  "hosts: skills-mcp trust /work, as a skill of a workspace that is not trusted is given nothing, and then skills-mcp grant",
		"run.sh: line 2: WX_TOKEN: unbound variable": "it was not given the variable WX_TOKEN; a person can give it: skills-mcp trust /work, as a skill of a workspace that is not trusted is given nothing, and then skills-mcp secret set WX_TOKEN and then skills-mcp secret grant demo WX_TOKEN --host HOST",
		"run.sh: line 2: WX_CITY: unbound variable":  "and then skills-mcp grant demo --secret WX_CITY",
	} {
		if o := fails(t, &skill, nil, 1, said, &sandbox.Exit{}, nil); !strings.Contains(o.Hint, want) {
			t.Errorf("%s: %q", said, o.Hint)
		}
	}
	skill.Workspace = "/work; evil" // which nobody should paste
	if o := fails(t, &skill, nil, 1, "Could not resolve host: x", &sandbox.Exit{}, nil); !strings.Contains(o.Hint, "skills-mcp trust DIR") || strings.Contains(o.Hint, "evil") {
		t.Errorf("a folder that means something to a shell: %q", o.Hint)
	}
}

// A program that is missing is not a missing file, and an argument is not a missing program.
func TestHintOfPrograms(t *testing.T) {
	for said, want := range map[string]string{
		"run.sh: line 2: jq: command not found":                                               "jq",
		"run.sh: 3: jq: not found":                                                            "jq",
		"zsh: command not found: jq":                                                          "jq",
		"/usr/bin/env: ‘deno’: No such file or directory":                                     "deno",
		`exec: "pandoc": executable file not found in $PATH`:                                  "pandoc",
		"Error: spawn ffmpeg ENOENT":                                                          "ffmpeg",
		"in _execute_child\nFileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'": "ffmpeg",
		"FileNotFoundError: [Errno 2] No such file or directory: 'in.txt'":                    "",
		"cat: in.txt: No such file or directory":                                              "",
		"config.json: not found":                                                              "",
	} {
		o := fails(t, demo(t, "script: run.sh"), &run.Options{Workspaces: []string{"/work"}}, 1, said, &sandbox.Exit{}, nil)
		program, file := strings.Contains(o.Hint, "has no program "+want) && want != "", strings.Contains(o.Hint, "name files of the workspace")
		if program != (want != "") || program && file {
			t.Errorf("%s: %q", said, o.Hint)
		}
	}
}

// A script that gets a path which no sandbox shows is told so, wherever the path stands.
func TestHintOfPathsOutside(t *testing.T) {
	skill := demo(t, "script: run.sh\nparameters: {type: object, properties: {args: {type: array, items: {type: string}}}}")
	for arg, outside := range map[string]bool{
		"/home/ann/x.csv": true, "--in=/home/ann/x.csv": true, "~/x.csv": true, "../x.csv": true, "/tmp/x.csv": true,
		"/work/x.csv": false, "/workspace/x.csv": false, "/skill/x": false, "/out/x": false, "/usr/share/dict/words": false, "x.csv": false, "/": false, "/x/../work/y": false,
	} {
		o := fails(t, skill, &run.Options{Workspaces: []string{"/work"}}, 1, "no such file or directory", &sandbox.Exit{}, map[string]any{"args": []any{"-v", arg}})
		if strings.Contains(o.Hint, "is outside of the workspaces (/work), so it is not seen; a person can add its folder with --workspace DIR") != outside {
			t.Errorf("%s: %q", arg, o.Hint)
		}
	}
	none := &run.Options{NoWorkspace: "it was started in /, which is the home folder or above it"}
	o := fails(t, skill, none, 1, "no such file or directory", &sandbox.Exit{}, map[string]any{"args": []any{"/home/ann/x.csv"}})
	if want := "there is no workspace: it was started in /, which is the home folder or above it; a person can start the server with --workspace DIR"; !strings.Contains(o.Hint, want) {
		t.Errorf("without a workspace: %q", o.Hint)
	}
	remote := run.Request{Skill: skill, Args: map[string]any{"args": []any{"/home/ann/x.csv"}}, Call: run.Call{Principal: identity.Principal{Kind: identity.Model, Remote: true}}}
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = cmd.Stderr.Write([]byte("no such file or directory"))
		return &sandbox.Exit{Code: 1}, nil
	}}
	o, err := newExecutor(t, driver, none).Run(t.Context(), remote)
	if err != nil || !strings.Contains(o.Hint, "there is no workspace; a person can start") {
		t.Errorf("from another machine: %+v, %v", o, err)
	}
}

// A workspace that the sandbox cannot enter is said before the script runs, and when it fails.
func TestHintOfBarredWorkspace(t *testing.T) {
	const why = "skills are nobody, who may not enter it"
	o := &run.Options{Workspaces: []string{"/work"}, Barred: func(string) string { return why }}
	var warned []string
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		if !slices.Equal(warned, []string{"workspace /work: " + why}) {
			t.Errorf("before it runs: %q", warned)
		}
		cmd.Started()
		_, _ = cmd.Stderr.Write([]byte("cat: /work/x: Permission denied"))
		return &sandbox.Exit{Code: 1}, nil
	}}
	call := run.Call{Warn: func(message string) { warned = append(warned, message) }}
	outcome, err := newExecutor(t, driver, o).Run(t.Context(), run.Request{Call: call, Skill: demo(t, "script: run.sh")})
	if err != nil || outcome.Hint != "/work: "+why {
		t.Errorf("%q, %v", outcome.Hint, err)
	}
}

// A script that edits a file of the workspace is told the way to a yes, a model by its next
// call and a person by a command; a script that writes to its own folder is told of /out.
func TestHintOfEditsInPlace(t *testing.T) {
	in := &run.Options{Workspaces: []string{"/work"}}
	got := map[string]bool{}
	for _, said := range []string{"sed: couldn't open /work/sedX: Read-only file system", "EROFS: read-only file system, open '/workspace/a'", "OSError: [Errno 30] Read-only file system: 'out.txt'"} {
		o := fails(t, demo(t, "script: run.sh"), in, 1, said, &sandbox.Exit{}, nil)
		got[said[:3]] = strings.Contains(o.ModelHint, `call run_skill with "write": true: the person is asked`) && strings.Contains(o.Hint, "skills-mcp grant demo --workspace rw") && !strings.Contains(o.ModelHint, "skills-mcp")
	}
	if want := map[string]bool{"sed": true, "ERO": true, "OSE": false}; !maps.Equal(got, want) {
		t.Errorf("told of a yes: %v, want %v", got, want)
	}
	if o := fails(t, run.Writing(demo(t, "script: run.sh")), in, 1, "/work/x: Read-only file system", &sandbox.Exit{}, nil); strings.Contains(o.ModelHint, "write") && strings.Contains(o.ModelHint, "run_skill") {
		t.Errorf("a call that was asked about: %q", o.ModelHint)
	}
}
