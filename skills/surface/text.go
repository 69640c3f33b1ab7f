package surface

// text adds what a text does.
func (c *collector) text(s *source) {
	c.prose(s)
	c.hosts(s)
	lower, code := newGramText(s.lower), newGramText(s.code)
	for _, g := range signs() {
		switch {
		case g.where == inText:
			c.sign(s, lower, g)
		case g.where == inCode, s.script:
			c.sign(s, code, g)
		}
	}
	c.downloads(s)
	c.secrets(s)
	for _, b := range s.blocks {
		c.shell(s, b)
	}
	c.programs(s)
	c.packages(s)
	c.configured(s)
}

// A sign is a passage that shows a capability.
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

// sign adds a capability whose sign is in a text, the content of s in lower case or a mask
// of it.
func (c *collector) sign(s *source, text *gramText, g sign) {
	for _, passage := range g.passages {
		if at := text.find(passage); at >= 0 {
			c.add(Item{Kind: g.kind, Value: g.value, Text: lineAt(s.content, at), File: s.name, Line: s.line(at)})
			return
		}
	}
}

// signs returns the signs of capabilities in texts of every language.
func signs() []sign {
	return append(credentialSigns(), codeSigns()...)
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
		credential("~/.config/gh", ".config/gh/", "gh/hosts.yml", "gh auth token"),
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

		{Decoder, "base64", inCode, []string{"base64 -d", "base64 --decode", "base64 -di", "b64decode", "atob(", "frombase64string", "decodebytes(", "a2b_base64"}},
		{Decoder, "hex", inCode, []string{"xxd -r", "unhexlify", "bytes.fromhex", "a2b_hex"}},
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
		{Calls, "that its code names", inScript, []string{`{"mcp": {"call"`, `{"mcp":{"call"`, `{'mcp': {'call'`, `{mcp: {call`, `"mcp": {"call"`}},
	}
}

// anyProgram is the value of a command that code starts by a name that is not read.
const anyProgram = "from code"
