package surface

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/infer/shell"
)

// program returns the name of a program without its folder.
func program(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// maxNested bounds the commands within commands, as of sh -c.
const maxNested = 4

// shell adds what the commands of a block do.
func (c *collector) shell(s *source, b block) {
	if !b.known || mentionsKnown(b.text) {
		shellReader{c, s, b.known}.read(b.text, b.line, 0)
	}
}

// A shellReader reads the commands of one block.
type shellReader struct {
	items  *collector
	source *source
	known  bool // of the block
}

func (r shellReader) read(text string, line, depth int) {
	for _, command := range shell.Commands(text) {
		command.Line += line - 1
		r.command(command, depth)
	}
}

// command adds what one command does.
func (r shellReader) command(c shell.Command, depth int) {
	words := unwrapped(c.Words)
	if len(words) == 0 || depth > maxNested {
		return
	}
	name := program(words[0])
	item := Item{Text: strings.Join(c.Words, " "), File: r.source.name, Line: c.Line}
	if len(c.From) > 0 {
		item.Text = strings.Join(c.From, " | ") + " | " + item.Text
	}
	r.piped(name, words, c, item)
	if r.known && !is(name, known) && !runs(name) {
		return
	}
	r.nested(name, words, c.Line, depth)
	if is(name, plainly) || !isName(name) {
		return
	}
	if program(c.Words[0]) == "sudo" {
		r.addAs(item, Command, "sudo")
	}
	r.addAs(item, Command, name)
	kind, names := packagesOf(name, words[1:])
	for _, name := range names {
		if name = packageName(name); name != "" {
			r.addAs(item, Package, kind+":"+name)
		}
	}
	r.remote(name, words[1:], item)
}

func (r shellReader) addAs(item Item, kind Kind, value string) {
	item.Kind, item.Value = kind, value
	r.items.add(item)
}

// nested adds what a command does that another is given.
func (r shellReader) nested(name string, words []string, line, depth int) {
	switch name {
	case "eval", "ssh", "xargs", "watch", "parallel":
		r.read(words[len(words)-1], line, depth+1)
		return
	}
	for i, word := range words[1:] {
		if runs(name) && slices.Contains([]string{"-c", "-lc", "-ec", "-Command"}, word) && i+2 < len(words) {
			r.read(words[i+2], line, depth+1)
		}
	}
}

// piped adds a command that runs what another downloads or decodes.
func (r shellReader) piped(name string, words []string, c shell.Command, item Item) {
	if !runs(name) {
		return
	}
	for _, from := range c.From {
		switch from = program(from); {
		case is(from, fetcher):
			r.addAs(item, Download, "from "+originOf(strings.Join(words, " ")+" "+lineAt(r.source.content, r.source.offset(c.Line))))
		case is(from, decoder):
			r.addAs(item, Decoder, "a pipe to "+name)
		}
	}
}

// unwrapped returns the words of a command without those that only start it.
func unwrapped(words []string) []string {
	for len(words) > 0 && is(program(words[0]), wrapper) {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") || strings.Trim(words[0][:min(1, len(words[0]))], "0123456789") == "") {
			words = words[1:] // options, variables, and the seconds of timeout
		}
	}
	return words
}

// remote adds the hosts that the arguments of a network program name without a scheme.
func (r shellReader) remote(name string, args []string, item Item) {
	if !is(name, fetcher) && !is(name, network) {
		return
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || strings.Contains(arg, "://") || strings.ContainsAny(arg, "…=*{}\"' ") {
			continue
		}
		if host := hostOf(strings.TrimRight(arg, ".,;")); isDomain(host) {
			r.addAs(item, Host, host)
		}
	}
}

// isDomain reports whether a text is a domain with a top level that is no usual
// extension of files.
func isDomain(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	name, _, _ = strings.Cut(name, "/")
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || name[0] == '.' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return false
	}
	switch name[dot+1:] {
	case "md", "txt", "json", "yaml", "yml", "html", "xml", "csv", "pdf", "png", "jpg", "gz", "zip", "tar", "tgz", "py", "js", "ts", "sh", "log", "pem", "key", "conf", "cfg", "out", "db", "sql", "lock":
		return false
	}
	return true
}

// isName reports whether a word may be the name of a program: code in prose has
// placeholders, too.
func isName(name string) bool {
	return name != "" && len(name) <= 64 && isWord(name[0]) &&
		strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789._+-") == "" && strings.ToUpper(name) != name
}

// A role is the effect of a well-known program.
type role int

const (
	wrapper     role = 1 << iota // starts the program that its arguments name
	interpreter                  // runs the text that it is given
	fetcher
	decoder
	network // its arguments name hosts
	plainly // reads, prints, or works on files of its folders: no gain for a skill that has a shell
	known   // a span of code that begins with its name is a command
)

// roles has the roles of programs by their names.
var roles = sync.OnceValue(func() map[string]role {
	all := map[string]role{}
	for _, row := range []struct {
		role  role
		names string
	}{
		{wrapper, "sudo doas env nohup time exec command builtin nice setsid stdbuf timeout ionice"},
		{interpreter | known, "sh bash zsh dash ksh ash fish python node perl ruby php deno bun osascript powershell pwsh iex busybox lua tclsh"},
		{interpreter | plainly | known, "eval source"},
		{fetcher | known, "curl wget aria2c iwr irm invoke-webrequest invoke-restmethod lynx nc ncat ftp"},
		{decoder | known, "base64 base32 xxd openssl uudecode gpg"},
		{network | known, "ssh scp sftp rsync telnet socat"},
		{network, "ping dig nslookup host mosh"},
		{known, "sudo npm npx pnpm yarn bunx pip pipx pip3 uv uvx git gh docker podman brew apt apt-get apk dnf yum gem cargo kubectl helm aws az gcloud terraform"},
		{known, "chmod chown rm dd mkfs pkill killall crontab systemctl launchctl tmux"},
		{plainly, "[ [[ test true false : echo printf cat ls pwd cd pushd popd dirname basename realpath readlink head tail grep egrep fgrep rg sed awk gawk"},
		{plainly, "cut tr sort uniq wc tee diff cmp comm paste column nl fold seq sleep date mkdir touch cp mv mktemp stat file du tree find xargs jq yq"},
		{plainly, "set unset shift return exit break continue read local declare typeset export readonly trap wait type which hash getopts let shopt alias ."},
		{plainly, "md5sum sha256sum shasum tput clear less more man whoami uname id arch nproc expr bc usage log error die info warn main unzip zip tar gzip gunzip"},
	} {
		for name := range strings.FieldsSeq(row.names) {
			all[name] |= row.role
		}
	}
	return all
})

// is reports whether a program has a role.
func is(name string, r role) bool { return roles()[name]&r != 0 }

// runs reports whether a program, of any version, runs the text that it is given.
func runs(name string) bool {
	return is(strings.TrimRight(strings.TrimSuffix(program(name), ".exe"), "0123456789."), interpreter)
}

// mentionsKnown reports whether a line of a text begins with a well-known program, or
// pipes to one.
func mentionsKnown(text string) bool {
	for line := range strings.Lines(text) {
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune("|;&(`", r) }) {
			words := strings.Fields(part)
			if words = unwrapped(words[:min(len(words), 8)]); len(words) > 0 && (is(program(words[0]), known) || runs(words[0])) {
				return true
			}
		}
	}
	return false
}

// packagesOf returns the kind and the names of the packages that a command installs or
// runs.
func packagesOf(name string, args []string) (kind string, names []string) {
	var words []string
	for i, arg := range args {
		valued := i > 0 && slices.Contains([]string{"-r", "--requirement", "-c", "--index-url", "-i", "--extra-index-url", "--registry", "--prefix", "--target", "-e"}, args[i-1])
		if !valued && !strings.HasPrefix(arg, "-") && arg != "" {
			words = append(words, arg)
		}
	}
	if name == "uv" && len(words) > 0 && words[0] == "pip" {
		words = words[1:]
	}
	verbs := []string{"install", "add", "get"}
	switch name {
	case "uvx":
		return "python", words[:min(1, len(words))]
	case "npx", "bunx":
		return "node", words[:min(1, len(words))]
	case "pip", "pip3", "pipx", "uv":
		kind, verbs = "python", []string{"install", "add", "run", "tool"}
	case "npm", "yarn", "pnpm", "bun":
		kind, verbs = "node", []string{"install", "i", "add", "dlx", "exec", "x"}
	case "gem", "cargo", "go", "brew", "apt", "apt-get", "apk", "dnf", "yum":
		kind = name
	}
	if kind == "" || len(words) == 0 || !slices.Contains(verbs, words[0]) {
		return "", nil
	}
	return kind, words[1:]
}

// packageName returns the name of a package without its version and extras; "" if the
// word is none.
func packageName(word string) string {
	word = strings.ToLower(strings.Trim(word, `"'`))
	if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") || strings.ContainsAny(word, `…${}\*`) {
		return ""
	}
	if _, rest, ok := strings.Cut(word, "://"); ok {
		return "at " + hostOf(urlAt(rest))
	}
	if at := strings.IndexAny(word[min(1, len(word)):], "=<>~!@;[ ^"); at >= 0 {
		word = word[:at+1]
	}
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789._-@/") != "" {
		return ""
	}
	return strings.ReplaceAll(word, "_", "-")
}
