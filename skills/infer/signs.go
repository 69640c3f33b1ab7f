package infer

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
)

// The forms of main guards.
var (
	pythonGuard = regexp.MustCompile(`^if\s+\(?\s*(?:__name__\s*==\s*["']__main__["']|["']__main__["']\s*==\s*__name__)`)
	nodeGuard   = regexp.MustCompile(`require\.main\s*={2,3}\s*module|module\s*={2,3}\s*require\.main|import\.meta\.main\b|import\.meta\.url\s*={2,3}|={2,3}\s*import\.meta\.url|={2,3}\s*fileURLToPath\(import\.meta\.url`)
	bashGuard   = regexp.MustCompile(`\$\{?BASH_SOURCE(?:\[0\])?\}?"?\s*={1,2}\s*"?\$\{?0|\$\{?0\}?"?\s*={1,2}\s*"?\$\{?BASH_SOURCE`)
)

// guarded reports whether a script does something only where it is run itself.
// Few files have a guard's words, and only those are matched.
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

// hasPythonGuard reports whether a line begins with a main guard. Only the lines with
// an "if" are matched, each from its start: a search of the whole text took a tenth
// of a scan.
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

// The forms of questions to whoever sits at a terminal.
var (
	pythonPrompt = regexp.MustCompile(`(?:^|[^\w.])(?:input|raw_input|getpass)\s*\(|\bgetpass\.getpass\s*\(`)
	bashPrompt   = regexp.MustCompile(`(?:^|[\s;&|({])read\s+(?:-[a-zA-Z]+\s+(?:[0-9]+\s+)?)*-[a-zA-Z]*p|(?:^|[\s;])select\s+\w+\s+in\b`)
	nodePrompt   = regexp.MustCompile(`\b\w+\.question\s*\(|\binquirer\b|\bprompts?\s*\(`)
)

// asking are the words that a line of each pattern has. To look for them first
// costs a hundredth of matching every line.
func asking(kind Kind) (pattern *regexp.Regexp, comment string, words []string) {
	switch kind {
	case Python:
		return pythonPrompt, "#", []string{"input(", "input (", "input  ", "input\t", "getpass(", "getpass (", "getpass  ", "getpass\t"}
	case Bash:
		return bashPrompt, "#", []string{"read", "select"}
	case Node:
		return nodePrompt, "//", []string{"question", "inquirer", "prompt"}
	}
	return nil, "", nil
}

// onTerminal matches a script's test for a terminal.
var onTerminal = regexp.MustCompile(`\bisatty\(|\bisTTY\b|\[\s+!?\s*-t [01]\b`)

// terminalWords are the words of which a match of onTerminal has one. To look for them
// first costs a hundredth of matching the source, which takes 2.5 ms for 16 KB.
var terminalWords = []string{"isatty(", "isTTY", "-t "}

// asksWith are the modules that a Node.js script asks with.
var asksWith = regexp.MustCompile(`["'](?:node:)?(?:readline(?:/promises)?|readline-sync|inquirer|@inquirer/[\w-]+|prompts|prompt|prompt-sync|enquirer)["']`)

// prompts reports whether a script asks for input, whoever runs it. Most do not
// have the words for it, and only the others are parsed.
func prompts(kind Kind, text string, module *python.Module) bool {
	if !mayPrompt(kind, text) || containsAny(text, terminalWords) && onTerminal.MatchString(text) {
		return false
	}
	switch kind {
	case Python:
		return module.Asks()
	case Bash:
		return shell.Asks([]byte(text))
	}
	return asksWith.MatchString(text)
}

// mayPrompt reports whether a line of a script, comments aside, looks like a
// question.
func mayPrompt(kind Kind, text string) bool {
	pattern, comment, words := asking(kind)
	if !containsAny(text, words) {
		return false
	}
	for line := range strings.Lines(text) {
		if !containsAny(line, words) || strings.HasPrefix(strings.TrimSpace(line), comment) || isDefinition(line) {
			continue
		}
		if pattern.MatchString(line) {
			return true
		}
	}
	return false
}

func containsAny(line string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
}

// isDefinition reports whether a line declares a function, which may have a name
// like those that ask.
func isDefinition(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "def ") || strings.HasPrefix(line, "function ")
}
