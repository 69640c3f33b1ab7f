package infer

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// The forms of main guards.
var (
	pythonGuard = lazyregexp.New(`^if\s+\(?\s*(?:__name__\s*==\s*["']__main__["']|["']__main__["']\s*==\s*__name__)`)
	nodeGuard   = lazyregexp.New(`require\.main\s*={2,3}\s*module|module\s*={2,3}\s*require\.main|import\.meta\.main\b|import\.meta\.url\s*={2,3}|={2,3}\s*import\.meta\.url|={2,3}\s*fileURLToPath\(import\.meta\.url`)
	bashGuard   = lazyregexp.New(`\$\{?BASH_SOURCE(?:\[0\])?\}?"?\s*={1,2}\s*"?\$\{?0|\$\{?0\}?"?\s*={1,2}\s*"?\$\{?BASH_SOURCE`)
)

// guarded reports whether a script has a main guard. Few files have the words of one,
// and only those are matched.
func guarded(kind Kind, text []byte) bool {
	has := func(words string) bool { return bytes.Contains(text, []byte(words)) }
	switch kind {
	case Python:
		return has("__main__") && hasPythonGuard(text)
	case Node:
		return (has("import.meta") || has("require.main")) && nodeGuard.Match(text)
	case Bash:
		return has("BASH_SOURCE") && bashGuard.Match(text)
	}
	return false
}

// hasPythonGuard reports whether a line begins with a main guard. It matches only the
// lines with an "if", each from its start: a search of the whole text took a tenth of
// a scan.
func hasPythonGuard(text []byte) bool {
	for {
		if bytes.HasPrefix(text, []byte("if")) && pythonGuard.Match(text) {
			return true
		}
		at := bytes.Index(text, []byte("\nif"))
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
}

// The forms of questions to somebody at a terminal.
var (
	pythonPrompt = lazyregexp.New(`(?:^|[^\w.])(?:input|raw_input|getpass)\s*\(|\bgetpass\.getpass\s*\(`)
	bashPrompt   = lazyregexp.New(`(?:^|[\s;&|({])read\s+(?:-[a-zA-Z]+\s+(?:[0-9]+\s+)?)*-[a-zA-Z]*p|(?:^|[\s;])select\s+\w+\s+in\b`)
	nodePrompt   = lazyregexp.New(`\b\w+\.question\s*\(|\binquirer\b|\bprompts?\s*\(`)
	// nodeAsker matches the import of a module that asks: words like prompt are others' too.
	nodeAsker = lazyregexp.New(`(?:\bfrom|\brequire\(|\bimport\(?)\s*["'](?:node:)?(?:readline(?:/promises|-sync)?|inquirer|prompts?|prompt-sync|enquirer|@clack/prompts|@inquirer/[\w-]+)["']`)
)

// prompting returns the pattern of a line with a question, the mark of comments, and
// words of which each such line has one. To search for the words first costs a
// hundredth of matching every line.
func prompting(kind Kind) (pattern *lazyregexp.Regexp, comment string, words []string) {
	switch kind {
	case Python:
		return pythonPrompt, "#", []string{"input", "getpass"}
	case Bash:
		return bashPrompt, "#", []string{"read", "select"}
	case Node:
		return nodePrompt, "//", []string{"question", "inquirer", "prompt"}
	}
	return nil, "", nil
}

// onTerminal matches a script's test for a terminal.
var onTerminal = lazyregexp.New(`\bisatty\(|\bisTTY\b|\[\s+!?\s*-t [01]\b`)

// terminalWords are words of which a match of onTerminal has one. To search for them
// first costs a hundredth of matching the source, which takes 2.5 ms for 16 KB.
var terminalWords = []string{"isatty(", "isTTY", "-t "}

// prompts reports whether a script asks for input in every use. It does not parse:
// of 16,900 files of public packages 3 would have another answer.
func prompts(kind Kind, text string) bool {
	if containsAny(text, terminalWords) && onTerminal.MatchString(text) {
		return false
	}
	return hasQuestion(kind, text) && (kind != Node || nodeAsker.MatchString(text))
}

// hasQuestion reports whether a line of a script asks a question, and is no comment or
// definition.
func hasQuestion(kind Kind, text string) bool {
	pattern, comment, words := prompting(kind)
	if !containsAny(text, words) {
		return false
	}
	for line := range strings.Lines(text) {
		start := strings.TrimSpace(line)
		if containsAny(line, words) && !strings.HasPrefix(start, comment) && !strings.HasPrefix(start, "def ") && !strings.HasPrefix(start, "function ") && pattern.MatchString(line) {
			return true
		}
	}
	return false
}

func containsAny(line string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
}

// installs reports whether a script is a package's own setup.py.
func installs(name string, text []byte) bool {
	return path.Base(name) == "setup.py" && (bytes.Contains(text, []byte("setuptools")) || bytes.Contains(text, []byte("distutils")))
}

// tests reports whether a script runs its own tests and does nothing else.
func tests(kind Kind, text []byte, m module) bool {
	has := func(call string) bool { return bytes.Contains(text, []byte(call)) }
	return kind == Python && (has("unittest.main(") || has("pytest.main(") || has("doctest.testmod(")) && !m.Runs()
}
