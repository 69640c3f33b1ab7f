package surface

import (
	"slices"
	"strings"
)

// packagesOf returns the kind and the names of the packages that a command names.
func packagesOf(name string, args []string) (kind string, names []string) {
	var words []string
	skip := false
	for _, arg := range args {
		switch {
		case skip:
			skip = false
		case arg == "-r" || arg == "--requirement" || arg == "-c" || arg == "--index-url" || arg == "-i" || arg == "--extra-index-url" || arg == "--registry" || arg == "--prefix" || arg == "--target" || arg == "-e" || arg == "--from" && name != "uvx":
			skip = true
		case !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		}
	}
	if name == "uv" && len(words) > 1 && words[0] == "pip" {
		words = words[1:]
	}
	after := func(verbs ...string) []string {
		if len(words) > 1 && slices.Contains(verbs, words[0]) {
			return words[1:]
		}
		return nil
	}
	switch name {
	case "pip", "pip3", "pipx", "uv":
		return "python", after("install", "add", "run", "tool")
	case "uvx":
		return "python", words[:min(1, len(words))]
	case "npm", "yarn", "pnpm", "bun":
		return "node", after("install", "i", "add", "dlx", "exec", "x")
	case "npx", "bunx":
		return "node", words[:min(1, len(words))]
	case "gem", "cargo", "go", "brew", "apt", "apt-get", "apk", "dnf", "yum":
		return name, after("install", "add", "get")
	}
	return "", nil
}

// packageName returns the name of a package without its version and extras; "" if the
// word is none.
func packageName(word string) string {
	word = strings.Trim(word, `"'`)
	if strings.ContainsAny(word, "…${}<>\\*") && !strings.ContainsAny(word, "<>") || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") {
		return ""
	}
	if strings.Contains(word, "://") {
		return "at " + hostOf(urlAt(strings.TrimPrefix(word, "git+")))
	}
	at := strings.IndexAny(word[min(1, len(word)):], "=<>~!@;[ ^")
	if at >= 0 {
		word = word[:at+1]
	}
	if strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789._-@/") != "" {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(word), "_", "-")
}
