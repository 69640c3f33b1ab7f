package scripts

import (
	"regexp"
	"strings"
)

// The forms of main guards.
var (
	pythonGuard = regexp.MustCompile(`(?m)^if\s+\(?\s*(?:__name__\s*==\s*["']__main__["']|["']__main__["']\s*==\s*__name__)`)
	nodeGuard   = regexp.MustCompile(`require\.main\s*={2,3}\s*module|module\s*={2,3}\s*require\.main|import\.meta\.main\b|import\.meta\.url\s*={2,3}|={2,3}\s*import\.meta\.url|={2,3}\s*fileURLToPath\(import\.meta\.url`)
	bashGuard   = regexp.MustCompile(`\$\{?BASH_SOURCE(?:\[0\])?\}?"?\s*={1,2}\s*"?\$\{?0|\$\{?0\}?"?\s*={1,2}\s*"?\$\{?BASH_SOURCE`)
)

// guarded reports whether a script does something only where it is run itself.
func guarded(kind Kind, text []byte) bool {
	switch kind {
	case Python:
		return pythonGuard.Match(text)
	case Node:
		return nodeGuard.Match(text)
	case Bash:
		return bashGuard.Match(text)
	}
	return false
}

// The forms of questions to whoever sits at a terminal.
var (
	pythonPrompt = regexp.MustCompile(`(?:^|[^\w.])(?:input|raw_input|getpass)\s*\(|\bgetpass\.getpass\s*\(`)
	bashPrompt   = regexp.MustCompile(`(?:^|[\s;&|({])read\s+(?:-[a-zA-Z]+\s+(?:[0-9]+\s+)?)*-[a-zA-Z]*p|(?:^|[\s;])select\s+\w+\s+in\b`)
	nodePrompt   = regexp.MustCompile(`\b\w+\.question\s*\(|\binquirer\b|\bprompts?\s*\(`)
)

// prompts reports whether a line of a script, comments aside, asks for input.
func prompts(kind Kind, text string) bool {
	pattern, comment := bashPrompt, "#"
	switch kind {
	case Python:
		pattern = pythonPrompt
	case Node:
		pattern, comment = nodePrompt, "//"
	case Bash:
	default:
		return false
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), comment) && !defines(line) && pattern.MatchString(line) {
			return true
		}
	}
	return false
}

// defines reports whether a line declares a function, which may have a name
// like those that ask.
func defines(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "def ") || strings.HasPrefix(line, "function ")
}
