package sandboxtest

import (
	"embed"
	"path"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// scripts has the attacks' scripts, in bash or Python, in archives by topic. A script
// prints one line for each thing that worked; the lines of it that begin with "#: " are
// its options:
//
//	#: bare             it works, and does no lasting harm, where root runs it without a
//	                    sandbox, which proves the attack
//	#: write            it gets a writable workspace rather than a read-only one
//	#: inside PATTERN   lines that are no escape where the sandbox has a kernel of its own:
//	                    they concern that kernel
//	#: default PATTERN  lines that are no escape where a runtime's own filter is in use: it may
//	                    allow these calls
//	#: shared RESOURCE  a resource that others may be denied where the sandbox's user has no
//	                    namespace of its own
//
//go:embed attacks
var scripts embed.FS

// An attack is a hostile script.
//
// Where it has no judge, it passes when the script ran to its end and nothing worked.
type attack struct {
	name           string // as in docs/security.md
	argv           []string
	bare, write    bool
	inside, shared []string
	byDefault      []string
	stdin          string
	limits         sandbox.Limits
	judge          judge
	// probed says that the host probes, while the script waits for the end of its
	// standard input, whether others still get their resources. The script writes to
	// stderr when it waits.
	probed bool
}

// attackTimeout bounds a script without a limit of its own.
const attackTimeout = 5 * time.Minute

// attacks returns all attacks, in the order of docs/security.md.
func attacks() []attack {
	var all []attack
	for _, topic := range []string{"files", "host", "kernel", "network", "output", "resources"} {
		for _, file := range txtar.Parse([]byte(embedded(topic + ".txtar"))).Files {
			all = append(all, parseAttack(file.Name, string(file.Data)))
		}
	}
	return all
}

// embedded returns the text of one of the embedded files.
func embedded(name string) string {
	text, err := scripts.ReadFile("attacks/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(text)
}

// prelude returns the beginning of each Python script.
func prelude() string { return embedded("prelude.py") }

// parseAttack returns the attack of a script in the file name, "NAME.sh" or "NAME.py".
func parseAttack(file, script string) attack {
	extension := path.Ext(file)
	name := strings.TrimSuffix(file, extension)
	a := requirements()[name]
	a.name = name
	a.argv = []string{"bash", "-c", script + "echo tried"}
	if extension == ".py" {
		a.argv = []string{"python3", "-c", prelude() + script + "print('tried', flush=True)"}
	}
	for line := range strings.Lines(script) {
		option, found := strings.CutPrefix(strings.TrimSpace(line), "#: ")
		if !found {
			continue
		}
		switch option, value, _ := strings.Cut(option, " "); option {
		case "bare":
			a.bare = true
		case "write":
			a.write = true
		case "inside":
			a.inside = append(a.inside, value)
		case "default":
			a.byDefault = append(a.byDefault, value)
		case "shared":
			a.shared = append(a.shared, value)
		default:
			panic("unknown option of the attack " + name + ": " + option)
		}
	}
	return a
}

// requirements returns the limits, the input and the judges of the attacks that have any,
// by name.
func requirements() map[string]attack {
	const megabyte = 1 << 20
	seconds := func(n time.Duration) sandbox.Limits { return sandbox.Limits{Timeout: n * time.Second} }
	memory := sandbox.Limits{Memory: 96 * megabyte, Timeout: 30 * time.Second}
	return map[string]attack{
		"hand out files by links in /out":      {judge: onlyPlain},
		"hand out more than there is room for": {judge: boundedFiles},

		// The parent may be ended with the rest, and the call with it.
		"signal other processes": {limits: seconds(60), judge: ended},

		"guess how an output ends":                     {judge: exactly(guessed, 7)},
		"read how an output ends":                      {stdin: ownInput, judge: codeOrFailure(7)},
		"take the input and output of another process": {stdin: strings.Repeat(ownInput, 100), judge: codeOrFailure(7)},
		"write what a terminal obeys":                  {judge: exactly(escapes, 7)},
		"write what looks like an engine's frames":     {judge: exactly(frames, 7)},
		"close the output early":                       {judge: exactly("before\n", 7)},
		"flood both outputs":                           {limits: sandbox.Limits{Output: 64 << 10}, judge: limited(sandbox.LimitOutput)},
		"never end a line":                             {judge: whole(8*megabyte, 7)},

		"fork without end":                     {limits: sandbox.Limits{PIDs: 64, Timeout: 2 * time.Second}, judge: refusedOrEnded},
		"take all memory":                      {limits: memory, judge: atMost(96*megabyte, refusedOrEnded)},
		"take all memory by what is in memory": {limits: sandbox.Limits{Tmp: 16 * megabyte}, judge: atMost(16*megabyte, ended)},
		"take all memory by shared memory":     {limits: memory, judge: atMost(96*megabyte, ended)},
		// A driver may allow a file as large as /tmp.
		"fill the disk by one file": {limits: sandbox.Limits{File: 8 * megabyte, Tmp: megabyte}, judge: atMost(8*megabyte, ended)},
		"make a million files":      {limits: sandbox.Limits{Memory: 128 * megabyte, Timeout: 20 * time.Second}, judge: without("made")},
		"make deep folders":         {limits: seconds(20), judge: ended},

		"go on after the end":                   {judge: exactly("", 7)},
		"ignore being told to end":              {limits: seconds(1), judge: limited(sandbox.LimitTime)},
		"take all that the kernel gives a user": {probed: true},
		"use all processors":                    {limits: seconds(1), judge: limited(sandbox.LimitTime)},
		// Its parents may pass a signal on to it.
		"end what runs it":  {limits: seconds(10), judge: refusedOrEnded},
		"stop what runs it": {limits: seconds(3), judge: codeOrFailure(7)},
	}
}

const (
	// ownInput is a line of a skill's input.
	ownInput = "the skill's own input\n"
	// frames looks like the headers that engines put before pieces of output, and like the
	// end of an output.
	frames = "\x01\x00\x00\x00\x00\x00\x00\x04fake\x02\x00\x00\x00\xff\xff\xff\xff\x00\x04\x1a\r\n"
	// escapes holds sequences that a terminal executes.
	escapes = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x1b]52;c;ZXZpbA==\x07\x9b31m\x08\x08\r"
	// guessed holds lines that look like a successful end.
	guessed = "\n0\n\nexit 0\nEXIT:0\n__exit__ 0\n\x0000000000000000000000000000000000 0\n\x04\x1a--0\n"
)
