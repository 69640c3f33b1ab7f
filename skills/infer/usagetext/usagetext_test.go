package usagetext

import (
	"strings"
	"testing"
	"time"
)

// The names of positionals come from usage lines of many styles.
func TestPositionals(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Usage: script.py <input> [output]", "input output"},
		{"usage: python scripts/convert.py INPUT_FILE [OUTPUT_FILE] [--verbose]", "input_file output_file"},
		{"Usage: python3 x.py <input.pdf> <output-dir> -v --size N", "input output_dir"},
		{"Usage: $0 [-v] [-o FILE] <file>...", "file"},
		{"Usage: {sys.argv[0]} <a> <b>", "a b"},
		{"Usage: %s FILE [FILE ...]", "file file"},
		{"Usage: $(basename \"$0\") <name> # the name", "name"},
		{"Usage: node tool.js <src> [dest] && rm x", "src dest"},
		{"Usage:\n    python a.py <input> [options]\n\nExample:\n    python a.py x.csv", "input"},
		{"Usage:\n  run.sh add <name>\n  run.sh rm <name>\n", ""},
		{"Usage: tool [--format json|csv] (--all | <id>)", "id"},
		{"Usage: this script is used by hand", ""},
		{"# Usage: ./deploy.sh ENV", "env"},
		{"It has no usage", ""},
		{"", ""},
	} {
		parsed := Parse(test.text)
		var got []string
		for at := 0; parsed.Name(at) != ""; at++ {
			got = append(got, parsed.Name(at))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%q: %s, want %s", test.text, text, test.want)
		}
	}
}

// A positional has a name where all usage lines agree.
func TestName(t *testing.T) {
	text := Parse("Usage:\n  x.py <file> <a>\n  x.py <file> <b>\n")
	if text.Name(0) != "file" || text.Name(1) != "" || text.Name(2) != "" {
		t.Errorf("%q %q %q", text.Name(0), text.Name(1), text.Name(2))
	}
}

// The arguments of a command stand behind its name, in a usage line or a list of commands.
func TestCommand(t *testing.T) {
	text := Parse(`Usage: t.py add <title> [priority] | done ID
Usage: t.py {start|stop} [service]

Commands:
  rename <id> <new-name>  Give it another name
  list                    List all
`)
	for _, test := range []struct{ command, places, help string }{
		{"add", "The first argument behind the command: <title>. The second argument behind the command: [priority].", ""},
		{"done", "The first argument behind the command: ID. The second argument behind the command.", ""},
		{"stop", "The first argument behind the command: [service]. The second argument behind the command.", ""},
		{"rename", "The first argument behind the command: <id>. The second argument behind the command: <new-name>.", "Give it another name"},
		{"list", "The first argument behind the command. The second argument behind the command.", "List all"},
	} {
		c := text.Command(test.command)
		if got := c.place(0) + " " + c.place(1); got != test.places {
			t.Errorf("%s: %s, want %s", test.command, got, test.places)
		}
		if got := text.Help(test.command); got != test.help {
			t.Errorf("%s: %q, want %q", test.command, got, test.help)
		}
	}
	if got := Parse("Usage: run.sh {start|stop} <service>").place(0); got != "The first argument of the command line: {start|stop}." {
		t.Error(got)
	}
}

// Descriptions stand behind flags and names.
func TestHelp(t *testing.T) {
	text := Parse(`Does things.

Usage: x.py <input> [--output FILE]

Arguments:
  input        the file to read,
               or - for none
  <mode>: how to go
  count (int)  - how often

Options:
  -o, --output FILE   where to write
  --dry-run           change nothing
  -q                  say less

Some text: more text.
  $1 - the first
`)
	for _, test := range []struct{ name, want string }{
		{"input", "the file to read, or - for none"}, {"mode", "how to go"}, {"count", "how often"}, {"--output", "where to write"}, {"-o", "where to write"},
		{"--dry-run", "change nothing"}, {"-q", "say less"}, {"$1", "the first"}, {"text", ""}, {"Some", ""},
	} {
		if got := text.Help(test.name); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Any text is read in bounds.
func FuzzParse(f *testing.F) {
	f.Add("Usage: x [<a>] (-b | c...) <d\n  e  f\n")
	f.Add("usage: $0 [[[\n  --a=<b>: c\n\td")
	f.Fuzz(func(t *testing.T, text string) {
		parsed := Parse(text)
		for at := range maxElements {
			if name := parsed.Name(at); name != PropertyName(name) {
				t.Errorf("%q at %d", name, at)
			}
		}
	})
}

// No text takes long.
func TestHostile(t *testing.T) {
	for _, part := range []string{"[", "[a ", "Usage: x [a|b] c\n", "usage:", "  -a", "<", "( ( ", "Usage:\n x [", "a, ", "-a,", "Arguments:\n  a: b\n", "x: y\n   ", "  -x  y\n     ", "[a] [b] (c|d) "} {
		start := time.Now()
		Parse("Usage: x " + strings.Repeat(part, maxText/len(part)-10))
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("%q: %v", part, took)
		}
	}
}
