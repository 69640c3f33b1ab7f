package surface

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
)

// program returns the name of a program without its folder.
func program(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// maxNested bounds the commands within commands, as of sh -c.
const maxNested = 4

// shell adds what the commands of a block do.
func (c *collector) shell(s *source, b block) {
	if b.known && !mentionsKnown(b.text) {
		return
	}
	(&shellReader{collector: c, source: s, known: b.known, fetched: map[string]shell.Command{}}).read(b.text, b.line, 0)
}

// A shellReader reads the commands of one block.
type shellReader struct {
	*collector
	*source
	known   bool                     // of the block
	fetched map[string]shell.Command // by the name of the file that they wrote
}

func (r *shellReader) read(text string, line, depth int) {
	for _, command := range shell.Commands(text) {
		command.Line += line - 1
		r.command(command, depth)
	}
}

// command adds what one command does.
func (r *shellReader) command(c shell.Command, depth int) {
	words := unwrapped(c.Words)
	if len(words) == 0 || depth > maxNested {
		return
	}
	name := program(words[0])
	item := Item{Text: strings.Join(c.Words, " "), File: r.name, Line: c.Line}
	if len(c.From) > 0 {
		item.Text = strings.Join(c.From, " | ") + " | " + item.Text
	}
	r.piped(name, words, c, item)
	if r.known && !isKnown(name) {
		return
	}
	if runs(name) {
		for i, word := range words[1:] {
			if (word == "-c" || word == "-lc" || word == "-ec" || word == "-Command") && i+2 < len(words) {
				r.read(words[i+2], c.Line, depth+1)
			}
		}
	}
	switch name {
	case "eval", "ssh", "xargs", "watch", "parallel":
		r.read(words[len(words)-1], c.Line, depth+1)
	}
	if isPlain(name) || !isName(name) {
		return
	}
	if name != c.Words[0] && program(c.Words[0]) == "sudo" {
		r.add(Item{Kind: Command, Value: "sudo", Text: item.Text, File: item.File, Line: item.Line})
	}
	item.Kind, item.Value = Command, name
	r.add(item)
	r.installed(name, words[1:], item)
	r.remote(name, words[1:], item)
}

// piped adds a command that runs what it or another downloads or decodes.
func (r *shellReader) piped(name string, words []string, c shell.Command, item Item) {
	if fetches := program(words[0]); isFetcher(fetches) {
		for _, file := range append(outputs(words[1:]), c.Writes...) {
			r.fetched[path.Base(file)] = c
		}
	}
	if !runs(name) && name != "chmod" && name != "xargs" {
		if fetch, ok := r.fetched[name]; ok {
			r.downloaded(fetch, item)
		}
		return
	}
	for _, from := range c.From {
		switch from = program(from); {
		case isFetcher(from):
			r.downloaded(c, item)
		case isDecoder(from):
			item := item
			item.Kind, item.Value = Decoder, "a pipe to "+name
			r.add(item)
		}
	}
	for _, word := range words[1:] {
		if fetch, ok := r.fetched[path.Base(word)]; ok && word != "" {
			r.downloaded(fetch, item)
		}
	}
}

// downloaded adds a download that is run.
func (r *shellReader) downloaded(fetch shell.Command, item Item) {
	item.Kind, item.Value = Download, "from "+origins(strings.Join(fetch.Words, " "), lineAt(r.content, r.offset(fetch.Line)))
	r.add(item)
}

// origins returns the hosts of the URLs of the first text that has any.
func origins(texts ...string) string {
	for _, text := range texts {
		var hosts []string
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\"'()<>|;`", r) }) {
			if strings.Contains(word, "://") {
				_, rest, _ := strings.Cut(urlAt(word), "://")
				authority, _, _ := strings.Cut(rest, "/")
				if host := cmp.Or(hostOf(urlAt(word)), authority); !slices.Contains(hosts, host) {
					hosts = append(hosts, host)
				}
			}
		}
		if len(hosts) > 0 {
			return strings.Join(hosts, ", ")
		}
	}
	return "a host that it computes"
}

// unwrapped returns the words of a command without those that only start it.
func unwrapped(words []string) []string {
	for len(words) > 0 {
		switch program(words[0]) {
		case "sudo", "doas", "env", "nohup", "time", "exec", "command", "builtin", "nice", "setsid", "stdbuf", "caffeinate", "timeout", "ionice":
		default:
			return words
		}
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") || isDuration(words[0])) {
			words = words[1:]
		}
	}
	return words
}

func isDuration(word string) bool { return word != "" && strings.Trim(word, "0123456789.smh") == "" }

// outputs returns the files that the arguments of a fetcher name for its output.
func outputs(args []string) (files []string) {
	for i, arg := range args {
		switch {
		case (arg == "-o" || arg == "--output" || arg == "-O" && i+1 < len(args) && !strings.Contains(args[i+1], "://") || arg == "--output-document" || arg == "-OutFile" || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "o")) && i+1 < len(args):
			files = append(files, args[i+1])
		case strings.HasPrefix(arg, "--output="), strings.HasPrefix(arg, "--output-document="):
			_, file, _ := strings.Cut(arg, "=")
			files = append(files, file)
		case strings.Contains(arg, "://"):
			bare, _, _ := strings.Cut(arg, "?")
			files = append(files, path.Base(bare))
		}
	}
	return files
}

// installed adds the packages that a command installs or fetches to run.
func (r *shellReader) installed(name string, args []string, item Item) {
	kind, names := packagesOf(name, args)
	for _, name := range names {
		if name = packageName(name); name != "" {
			item.Kind, item.Value = Package, kind+":"+name
			r.add(item)
		}
	}
}

// remote adds the hosts that the arguments of a network program name without a scheme.
func (r *shellReader) remote(name string, args []string, item Item) {
	if !isNetwork(name) {
		return
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || strings.Contains(arg, "://") || !strings.Contains(arg, ".") || strings.ContainsAny(arg, "…=*{}\"' ") {
			continue
		}
		if !isFetcher(name) && !strings.ContainsAny(arg, "@:") && (strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/")) {
			continue
		}
		if host := hostOf("tcp://" + strings.TrimRight(arg, ".,;")); isDomain(host) {
			item.Kind, item.Value = Host, host
			r.add(item)
		}
	}
}

// isDomain reports whether a text is a domain with a top level that is no usual
// extension of files.
func isDomain(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	name, _, _ = strings.Cut(name, "/")
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || strings.HasPrefix(name, ".") {
		return false
	}
	switch name[dot+1:] {
	case "md", "txt", "json", "yaml", "yml", "html", "xml", "csv", "pdf", "png", "jpg", "gz", "zip", "tar", "tgz", "py", "js", "ts", "sh", "log", "pem", "key", "conf", "cfg", "out", "db", "sql", "lock":
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}

// isName reports whether a word may be the name of a program: code in prose has
// placeholders, too.
func isName(name string) bool {
	return name != "" && len(name) <= 64 && isWord(name[0]) &&
		strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789._+-") == "" && strings.ToUpper(name) != name
}

// runs reports whether a program runs the text that it is given.
func runs(name string) bool {
	switch strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.") {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "python", "node", "perl", "ruby", "php", "deno", "bun", "osascript", "powershell", "pwsh", "iex", "eval", "source", "", "busybox", "lua", "tclsh":
		return name != ""
	}
	return false
}

func isFetcher(name string) bool {
	switch strings.ToLower(name) {
	case "curl", "wget", "fetch", "aria2c", "http", "https", "xh", "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "lynx", "nc", "ncat", "ftp", "lwp-request", "wget2":
		return true
	}
	return false
}

func isDecoder(name string) bool {
	switch name {
	case "base64", "base32", "xxd", "openssl", "uudecode", "rev", "basenc", "gpg":
		return true
	}
	return false
}

// isNetwork reports whether the arguments of a program name hosts.
func isNetwork(name string) bool {
	switch name {
	case "ssh", "scp", "sftp", "rsync", "telnet", "socat", "ping", "dig", "nslookup", "host", "mosh":
		return true
	}
	return isFetcher(name)
}

// isPlain reports whether a program only reads and prints, or works on files of its
// folders, and gains nothing for a skill that has a shell.
func isPlain(name string) bool {
	switch name {
	case "[", "[[", "test", "true", "false", ":", "echo", "printf", "cat", "ls", "pwd", "cd", "pushd", "popd", "dirname", "basename", "realpath", "readlink", "head", "tail", "grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk",
		"cut", "tr", "sort", "uniq", "wc", "tee", "diff", "cmp", "comm", "paste", "column", "nl", "fold", "seq", "sleep", "date", "mkdir", "touch", "cp", "mv", "mktemp", "stat", "file", "du", "tree", "find", "xargs", "jq", "yq",
		"set", "unset", "shift", "return", "exit", "break", "continue", "read", "local", "declare", "typeset", "export", "readonly", "trap", "wait", "type", "which", "hash", "getopts", "let", "shopt", "alias", "source", ".", "eval",
		"md5sum", "sha256sum", "shasum", "cksum", "tput", "clear", "less", "more", "man", "whoami", "uname", "id", "arch", "nproc", "expr", "bc", "usage", "log", "error", "die", "info", "warn", "main", "unzip", "zip", "tar", "gzip", "gunzip":
		return true
	}
	return false
}

// isKnown reports whether a program is well known, so that a span of code that begins
// with its name is a command.
func isKnown(name string) bool {
	switch name {
	case "sudo", "npm", "npx", "pnpm", "yarn", "bunx", "pip", "pipx", "pip3", "uv", "uvx", "git", "gh", "docker", "podman", "brew", "apt", "apt-get", "apk", "dnf", "yum", "gem", "cargo", "kubectl", "helm", "aws", "az",
		"gcloud", "terraform", "ssh", "scp", "sftp", "rsync", "telnet", "socat", "chmod", "chown", "rm", "dd", "mkfs", "pkill", "killall", "crontab", "systemctl", "launchctl", "tmux", "nohup", "openssl", "base64", "xxd", "gpg":
		return true
	}
	return isFetcher(name) && name != "http" && name != "https" && name != "fetch" || runs(name)
}

// mentionsKnown reports whether a line of a text begins with a well-known program, or
// pipes to one.
func mentionsKnown(text string) bool {
	for line := range strings.Lines(text) {
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == '|' || r == ';' || r == '&' || r == '(' || r == '`' }) {
			words := strings.Fields(part)
			if words = unwrapped(words[:min(len(words), 8)]); len(words) > 0 && isKnown(program(words[0])) {
				return true
			}
		}
	}
	return false
}
