package surface

import (
	"iter"
	"strings"
	"sync"
)

// A sign is a set of passages that show a capability.
type sign struct {
	kind  Kind
	value string
	where where
	// passages are in lower case. A letter or digit at the beginning or end of one is
	// that of a word.
	passages []string
}

// A where is a part of texts in which a sign counts.
type where int

const (
	inText   where = iota // also prose: a model could obey it
	inCode                // scripts, and code in prose
	inScript              // files that are code
)

// signs adds the capabilities whose signs are in a text.
func (c *collector) signs(s *source) {
	for _, g := range allSigns() {
		text := s.code
		switch {
		case g.where == inText:
			text = s.lower
		case g.where == inScript && !s.script:
			continue
		}
		for _, passage := range g.passages {
			if at := Find(text, passage); at >= 0 {
				c.add(Item{Kind: g.kind, Value: g.value, Text: lineAt(s.content, at), File: s.name, Line: s.line(at)})
				break
			}
		}
	}
}

var allSigns = sync.OnceValue(func() []sign { return append(credentialSigns(), codeSigns()...) })

// Find returns the offset of the first whole occurrence of a passage; -1 without one.
func Find(text, passage string) int {
	for at := range Whole(text, passage) {
		return at
	}
	return -1
}

// Whole yields the offsets of a passage in a text, where a letter or digit at its beginning
// or end is that of a word. After "word*" the word goes on.
func Whole(text, passage string) iter.Seq[int] {
	passage, stem := strings.CutSuffix(passage, "*")
	return func(yield func(int) bool) {
		for at := range occurrences(text, passage) {
			end := at + len(passage)
			if (at == 0 || !isWord(passage[0]) || !isWord(text[at-1])) && (stem || end == len(text) || !isWord(passage[len(passage)-1]) || !isWord(text[end])) && !yield(at) {
				return
			}
		}
	}
}

// Passages returns the passages, in lower case, that show a capability.
func Passages(kind Kind, value string) []string {
	for _, g := range allSigns() {
		if g.kind == kind && g.value == value {
			return g.passages
		}
	}
	return nil
}

// occurrences yields the offsets of a passage in a text.
func occurrences(text, passage string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			at := strings.Index(text[from:], passage)
			if at < 0 || !yield(from+at) {
				return
			}
			from += at + 1
		}
	}
}

func credentialSigns() []sign {
	credential := func(value string, passages ...string) sign { return sign{Credential, value, inText, passages} }
	return []sign{
		credential("~/.ssh", "/.ssh", ".ssh/", `".ssh"`, `'.ssh'`, "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"),
		credential("~/.aws", ".aws/", `".aws"`, `'.aws'`),
		credential("~/.netrc", ".netrc", "_netrc"),
		credential("~/.git-credentials", ".git-credentials", "git credential fill"),
		credential("~/.npmrc", ".npmrc"),
		credential("~/.pypirc", ".pypirc"),
		credential("~/.pgpass", ".pgpass", ".my.cnf"),
		credential("~/.docker/config.json", ".docker/config.json"),
		credential("~/.kube", ".kube/", `".kube"`, `'.kube'`),
		credential("~/.config/gh", ".config/gh/", "gh/hosts.yml", `"gh" / "hosts.yml"`, `"gh", "hosts.yml"`, `'gh', 'hosts.yml'`, "gh auth token"),
		credential("~/.config/gcloud", "application_default_credentials", ".config/gcloud", "gcloud auth print-access-token"),
		credential("~/.azure", ".azure/", `".azure"`, `'.azure'`),
		credential("~/.gnupg", ".gnupg"),
		credential("~/.password-store", ".password-store"),
		credential("~/.cargo/credentials", ".cargo/credentials", ".gem/credentials", ".terraform.d/credentials", ".vault-token", "rclone.conf"),
		credential("the keychain", "library/keychains", "login.keychain", "find-generic-password", "find-internet-password", "dump-keychain", "secret-tool lookup", "kwallet-query"),
		credential("a browser's profile", "google/chrome", "google-chrome", "chrome/user data", ".mozilla/firefox", "firefox/profiles", "bravesoftware", "edge/user data", "cookies.sqlite", "key4.db", "logins.json", "login data"),
		credential("a wallet", "wallet.dat", ".bitcoin/", ".ethereum/", "solana/id.json", "exodus.wallet", "electrum/wallets", "metamask"),
		credential("the system's passwords", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/master.passwd"),
		credential("the shell's history", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history"),
		credential("an agent's credentials", ".claude/.credentials", ".claude.json", ".codex/auth", ".gemini/oauth_creds", ".openclaw/openclaw.json", ".clawdbot/clawdbot.json"),
		credential("the cloud's metadata service", "169.254.169.254", "fd00:ec2::254", "metadata.google.internal"),
		credential("the engine's socket", "docker.sock", "containerd.sock", "podman.sock"),
		credential("the cluster's token", "/var/run/secrets/", "/run/secrets/kubernetes.io"),
		{Credential, "a .env file", inCode, []string{`".env"`, `'.env'`, "/.env\"", "/.env'", "cat .env", "source .env", ". .env", "< .env", "@.env", "~/.env"}},
	}
}

func codeSigns() []sign {
	persistence := func(value string, passages ...string) sign { return sign{Persistence, value, inCode, passages} }
	return []sign{
		persistence("cron", "crontab", "/etc/cron", "/var/spool/cron"),
		persistence("a service of the system", "systemctl enable", "systemctl --user enable", "/etc/systemd", "systemd/user", "/etc/init.d", "/etc/rc.local", "update-rc.d"),
		persistence("launchd", "launchctl", "launchagents", "launchdaemons"),
		persistence("the session's start", "config/autostart", "schtasks", `currentversion\run`, `currentversion\\run`, "start menu/programs/startup"),
		persistence("the shell's start", ".bashrc", ".zshrc", ".bash_profile", ".zprofile", ".zshenv", "~/.profile", "home/.profile", "/etc/profile", "config/fish/config.fish"),
		persistence("git's hooks", ".git/hooks", "core.hookspath"),
		persistence("ssh's keys", "authorized_keys"),
		persistence("the loader", "ld_preload", "ld.so.preload", "dyld_insert_libraries", "sitecustomize", "usercustomize"),
		persistence("an agent's settings", ".claude/settings", ".claude/hooks", ".cursor/mcp.json", "claude_desktop_config", ".codex/config", ".gemini/settings"),
		{Persistence, "an agent's instructions", inScript, []string{"claude.md", "agents.md", "soul.md", "memory.md", "heartbeat.md", ".cursorrules"}},

		{Decoder, "base64", inCode, []string{"base64 -d", "base64 --decode", "base64 -di", "b64decode", "atob(", "frombase64string", "decodebytes(", "a2b_base64", ", 'base64')", `, "base64")`}},
		{Decoder, "hex", inCode, []string{"xxd -r", "unhexlify", "bytes.fromhex", "a2b_hex", ", 'hex')", `, "hex")`}},
		{Decoder, "characters", inCode, []string{"fromcharcode", "rot13", "rot_13", `"".join(chr(`, `''.join(chr(`, "uudecode"}},
		{Decoder, "ciphers", inCode, []string{"openssl enc -d", "openssl aes", "-encodedcommand", "certutil -decode"}},
		{Decoder, "objects", inCode, []string{"marshal.loads", "pickle.load", "pickle.loads", "dill.loads", "cloudpickle.loads"}},
		{Decoder, "eval", inScript, []string{" eval(", "\neval(", "=eval(", "(eval(", "\texec(", " exec(", "\nexec(", "=exec(", "(exec(", "new function(", "__import__(", "import_module(", "vm.runin", "instance_eval", "eval \"", "eval $", "eval '", "iex "}},

		{Remote, "a shell", inText, []string{"/dev/tcp/", "/dev/udp/", "nc -e", "ncat -e", "nc -lvp", "bash -i >&", "sh -i >&", "pty.spawn(", "socat exec:", "meterpreter", "ngrok tcp"}},

		{Network, "code", inScript, []string{
			"requests.", "urllib.request", "urllib import request", "urllib2", "urllib3", "http.client", "httplib", "httpx", "aiohttp", "import socket", "socket.socket", "socket.create_connection",
			"websocket", "fetch(", "axios", "http.get(", "https.get(", "http.request(", "https.request(", "net.connect(", "net.createconnection(", "xmlhttprequest", "sendbeacon", "paramiko", "ftplib",
			"smtplib", "telnetlib", "pycurl", "undici", "node-fetch", "superagent", "dns.resolve", "invoke-webrequest", "invoke-restmethod", "webclient", "open-uri", "net::http", "net/http", "lwp::", "curl_init", "reqwest",
		}},
		{Command, anyProgram, inScript, []string{
			"subprocess", "os.system(", "os.popen(", "os.exec", "os.spawn", "child_process", "execsync(", "spawnsync(", "deno.command", "bun.spawn", "runtime.getruntime", "process.start(", "os/exec", "std::process", "execa", "shelljs", "zx",
		}},
		{Variable, "of any name", inCode, []string{"dict(os.environ", "os.environ.items(", "os.environ.values(", "dumps(os.environ", "json.stringify(process.env", "object.entries(process.env", "object.keys(process.env", "str(os.environ", "printenv |", "printenv >"}},
		{Calls, "that its code names", inScript, []string{`{"mcp": {"call"`, `{"mcp":{"call"`, `{'mcp': {'call'`, `{mcp: {call`, `"mcp": {"call"`}},
	}
}

// anyProgram is the value of a command that code starts by a name that is not read.
const anyProgram = "from code"
