package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

func writeFile(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// noise returns text that does not compress, the same each time.
func noise(size int) string {
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, size)
	random.Read(data)
	return string(data)
}

// TestLocations accepts the forms that start no program but git and ssh.
func TestLocations(t *testing.T) {
	for _, test := range []struct {
		location string
		named    string // for the person: "" is accepted
		stranger string // for a stranger's file
	}{
		{location: "https://example.com/x.git"},
		{location: "HTTPS://example.com/x.git"},
		{location: "https://[2001:db8::1]/x.git"},
		{location: "ssh://git@example.com:22/x.git"},
		{location: "git@example.com:o/x.git"},
		{location: "git://example.com/x.git", named: "neither encrypted"},
		{location: "git://127.0.0.1/x.git", stranger: "not encrypted"},
		{location: "http://127.0.0.1:80/x.git", stranger: "not encrypted"},
		{location: "http://localhost/x.git", stranger: "not encrypted"},
		{location: "/srv/x.git", stranger: "folder of this machine"},
		{location: "file:///srv/x.git", stranger: "folder of this machine"},
		{location: "https://10.0.0.1/x.git", stranger: "not a public address"},
		{location: "https://[::1]/x.git", stranger: "not a public address"},
		{location: "ssh://192.168.1.1/x.git", stranger: "not a public address"},
		{location: "git@127.0.0.1:x.git", stranger: "not a public address"},
		{location: "http://example.com/x.git", named: "neither encrypted"},
		{location: "https://me:secret@example.com/x.git", named: "password"},
		{location: "ext::sh -c 'touch /tmp/x'", named: "start a program"},
		{location: "ext::sh", named: "start a program"},
		{location: "fd::17/x", named: "start a program"},
		{location: "EXT::sh", named: "start a program"},
		{location: "any-thing::https://example.com", named: "start a program"},
		{location: "ext://example.com/x", named: "start a program"},
		{location: "ftp://example.com/x", named: "start a program"},
		{location: "--upload-pack=touch x", named: "no repository"},
		{location: "-u", named: "no repository"},
		{location: "ssh://-oProxyCommand=x/y", named: "looks like an option"},
		{location: "ssh://-l@example.com/y", named: "looks like an option"},
		{location: "ssh://example.com/-x", named: "looks like an option"},
		{location: "-oProxyCommand=x:y", named: "no repository"},
		{location: "git@-oProxyCommand=x:y", named: "looks like an option"},
		{location: "git@example.com:-x", named: "looks like an option"},
		{location: "https://example.com/x\ny", named: "control characters"},
		{location: "./x", named: "no repository"},
		{location: "../x.git", named: "no repository"},
		{location: "x", named: "no repository"},
		{location: "", named: "no repository"},
		{location: "https:///x", named: "no host"},
	} {
		f := New(&Options{Public: func(a netip.Addr) bool { return !a.IsPrivate() && !a.IsLoopback() }})
		for _, named := range []bool{true, false} {
			want := test.named
			if !named && want == "" {
				want = test.stranger
			}
			if want == "" && !named && strings.Contains(test.location, "example.com") {
				continue // would ask a name server
			}
			_, err := f.locate(t.Context(), test.location, named)
			var refused *source.RefusedError
			if want == "" && err != nil || want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q, named %v: %v, want %q", test.location, named, err, want)
			}
		}
	}
}

// TestRefs refuses names that git would take for something else.
func TestRefs(t *testing.T) {
	o := newOrigin(t)
	o.files("main", map[string]string{"a": "a"})
	for _, ref := range []string{"-u", "--upload-pack=touch x", "a:refs/heads/b", "+main", "main^{/x}", "main~1", "a..b", "@{u}", "a b", "*", "a\nb", "/x", "x.lock"} {
		r := request(o.dir)
		r.Source.Ref = ref
		var refused *source.RefusedError
		if _, _, err := fetch(t, nil, r); !errors.As(err, &refused) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	for _, path := range []string{"../x", "-u", "b/../../c", "\n", ".git"} {
		r := request(o.dir)
		r.Source.Path = path
		if got, _, err := fetch(t, nil, r); err == nil {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// TestNames refuses the entries of hostile folders.
func TestNames(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	blob, out, abs := o.blob("x"), o.blob("../../etc/passwd"), o.blob("/etc/passwd")
	inner := o.tree("100644 config " + blob)
	for name, entries := range map[string][]string{
		"parent":          {"40000 .. " + inner},
		"here":            {"40000 . " + inner},
		"parent file":     {"100644 .. " + blob},
		"slash":           {"100644 a/../../b " + blob},
		"absolute":        {"100644 /etc/passwd " + blob},
		"empty":           {"100644  " + blob},
		".git":            {"40000 .git " + inner},
		"upper case":      {"40000 .GIT " + inner},
		"short name":      {"40000 GIT~1 " + inner},
		"ignorable":       {"40000 .g\u200cit " + inner},
		"stream":          {"40000 .git::$INDEX_ALLOCATION " + inner},
		"dots":            {"40000 .git.. " + inner},
		"deep .git":       {"40000 a " + o.tree("40000 .git "+inner)},
		"control":         {"100644 a\x1b[31m " + blob},
		"twice":           {"100644 a " + blob, "100644 a " + blob},
		"case":            {"100644 A " + blob, "100644 a " + blob},
		"Unicode":         {"100644 \u00e9 " + blob, "100644 e\u0301 " + blob},
		"file and folder": {"100644 a " + blob, "40000 a " + inner},
		"link out":        {"120000 l " + out},
		"absolute link":   {"120000 l " + abs},
		"written through": {"120000 a " + o.blob("b"), "40000 a " + inner},
		"long link":       {"120000 l " + o.blob(strings.Repeat("a", 5000))},
		"device":          {"20000 null " + blob},
		"folder as file":  {"100644 a " + inner},
		"file as folder":  {"40000 a " + blob},
		"missing file":    {"100644 a " + strings.Repeat("12", 20)},
	} {
		t.Run(name, func(t *testing.T) {
			branch := strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ".", "x")
			o.commit(branch, o.tree(entries...))
			r := request(o.dir)
			r.Source.Ref = branch
			got, _, err := fetch(t, nil, r)
			if err == nil {
				t.Fatalf("accepted: %v", got)
			}
			var refused *source.RefusedError
			var bad *quarantine.Error
			if !errors.As(err, &refused) && !errors.As(err, &bad) && name != "missing file" && name != "empty" && !strings.Contains(name, " as ") {
				t.Errorf("%v is neither a RefusedError nor one of the quarantine", err)
			}
		})
	}
}

// TestManyFolders ends with a folder that has itself ten times, ten folders deep.
func TestManyFolders(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	tree := o.tree("100644 f " + o.blob("x"))
	for range 10 {
		var entries []string
		for i := range 10 {
			entries = append(entries, fmt.Sprintf("40000 d%d %s", i, tree))
		}
		tree = o.tree(entries...)
	}
	o.commit("main", tree)
	var refused *source.RefusedError
	if _, _, err := fetch(t, nil, request(o.dir)); !errors.As(err, &refused) {
		t.Error(err)
	}
}

// TestNothingRuns fetches a repository that would run programs in each way that git has.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	home, marks := t.TempDir(), t.TempDir()
	touch := func(name string) string { return "touch " + filepath.Join(marks, name) }
	writeFile(t, filepath.Join(home, ".gitconfig"), fmt.Sprintf(`
[init]
	templateDir = %[1]s/template
[core]
	hooksPath = %[1]s/hooks
	fsmonitor = %[2]s
	alternateRefsCommand = %[2]s
[filter "evil"]
	smudge = %[2]s
	clean = %[2]s
	process = %[2]s
	required = true
[diff "evil"]
	textconv = %[2]s
[submodule]
	recurse = true
[fetch]
	recurseSubmodules = true
`, home, touch("setting")))
	contents := map[string]string{
		"SKILL.md":                skillText,
		".gitattributes":          "* filter=evil diff=evil text working-tree-encoding=UTF-16 ident export-subst\n",
		".gitmodules":             "[submodule \"x\"]\n\tpath = x\n\turl = ext::" + touch("submodule") + "\n\tupdate = !" + touch("submodule") + "\n",
		".lfsconfig":              "[lfs]\n\turl = http://127.0.0.1:1\n",
		"x:hooks/post-update":     "#!/bin/sh\n" + touch("hook-in-tree") + "\n",
		"crlf":                    "a\r\n$Id$\n$Format:%H$\n",
		"config":                  "[core]\n\tfsmonitor = " + touch("config") + "\n",
		"HEAD":                    "ref: refs/heads/main\n",
		"objects/info/alternates": "/\n",
	}
	o.files("main", contents)
	for _, hook := range []string{"post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change", "fsmonitor-watchman"} {
		writeFile(t, filepath.Join(o.dir, "hooks", hook), "#!/bin/sh\n"+touch("hook-of-server")+"\n")
		writeFile(t, filepath.Join(home, "template/hooks", hook), "#!/bin/sh\n"+touch("hook-of-template")+"\n")
		writeFile(t, filepath.Join(home, "hooks", hook), "#!/bin/sh\n"+touch("hook-of-person")+"\n")
	}
	env := append(gitEnv(home), "GIT_TEMPLATE_DIR="+home+"/template", "GIT_EXTERNAL_DIFF="+touch("variable"), "GIT_DIR=/nowhere", "GIT_OBJECT_DIRECTORY=/nowhere", "GIT_ALTERNATE_OBJECT_DIRECTORIES=/nowhere",
		"GIT_CONFIG_PARAMETERS='core.fsmonitor="+touch("variable")+"'", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.gitProxy", "GIT_CONFIG_VALUE_0="+touch("variable"), "GIT_TRACE="+marks+"/trace", "GIT_ALLOW_PROTOCOL=ext", "GIT_PROXY_COMMAND="+touch("variable"), "GIT_EXEC_PATH=/nowhere", "GIT_NAMESPACE=x")
	for _, location := range []string{o.dir, o.daemon(), o.serve(o.backend())} {
		got, _, err := fetch(t, &Options{Env: env}, request(location))
		if err != nil {
			t.Fatal(location, err)
		}
		for name, content := range contents {
			if got[name] != content {
				t.Errorf("%s: %s is %q, want %q", location, name, got[name], content)
			}
		}
	}
	if ran, _ := os.ReadDir(marks); len(ran) > 0 {
		t.Errorf("ran: %v", ran)
	}
}

// TestRedirects follows a redirect only to where the person may be led.
func TestRedirects(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.files("main", map[string]string{"SKILL.md": skillText})
	backend := o.backend()
	var asked atomic.Int64
	inside := o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		backend.ServeHTTP(w, r)
	}))
	private := func(netip.Addr) bool { return false }
	redirect := func(to string) string {
		return o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to+strings.TrimPrefix(r.URL.Path, "/x.git")+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
		}))
	}
	if got, _, err := fetch(t, &Options{Public: private}, request(redirect(inside))); err != nil || len(got) != 1 || asked.Load() == 0 {
		t.Errorf("the same host: %v, %v", got, err)
	}
	asked.Store(0)
	if _, _, err := fetch(t, &Options{Public: private}, request(redirect(strings.Replace(inside, "127.0.0.1", "127.0.0.2", 1)))); err == nil || asked.Load() > 0 {
		t.Errorf("another private host: %v, asked %d times", err, asked.Load())
	}
	for name, to := range map[string]string{"file": "file:///etc", "elsewhere": "https://example.com/login?next=", "circle": ""} {
		if _, _, err := fetch(t, &Options{Public: private}, request(redirect(to))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCuts cuts the connection at each tenth: a fetch ends with all of the files or an
// error, and leaves nothing behind.
func TestCuts(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	want := map[string]string{"SKILL.md": skillText, "noise": noise(200 << 10)}
	o.files("main", want)
	backend := o.backend()
	var size atomic.Int64
	measure := o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		backend.ServeHTTP(&cutter{ResponseWriter: w, left: 1 << 40, written: &size}, r)
	}))
	if _, _, err := fetch(t, nil, request(measure)); err != nil {
		t.Fatal(err)
	}
	for tenth := range int64(10) {
		for _, always := range []bool{true, false} {
			var cuts, written atomic.Int64
			location := o.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if left := size.Load()*tenth/10 - written.Load(); (always || cuts.Load() == 0) && (r.Method == http.MethodPost || tenth == 0) {
					backend.ServeHTTP(&cutter{ResponseWriter: w, left: max(0, left), written: &written, cuts: &cuts}, r)
					return
				}
				backend.ServeHTTP(w, r)
			}))
			got, _, err := fetch(t, nil, request(location))
			switch {
			case cuts.Load() == 0:
				t.Errorf("tenth %d was not cut", tenth)
			case err == nil && (always || got["noise"] != want["noise"]):
				t.Errorf("tenth %d, always %v: accepted %d files", tenth, always, len(got))
			}
		}
	}
}

// A cutter ends a response in the middle.
type cutter struct {
	http.ResponseWriter
	left          int64
	written, cuts *atomic.Int64
}

func (c *cutter) Write(p []byte) (int, error) {
	n := min(int64(len(p)), c.left)
	c.left -= n
	c.written.Add(n)
	c.ResponseWriter.Write(p[:n])
	if n < int64(len(p)) {
		c.cuts.Add(1)
		http.NewResponseController(c.ResponseWriter).Flush()
		conn, _, err := http.NewResponseController(c.ResponseWriter).Hijack()
		if err == nil {
			conn.Close()
		}
		return int(n), io.ErrClosedPipe
	}
	return int(n), nil
}

// TestSlow ends a fetch from a server that sends nothing, and one whose context is done.
func TestSlow(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	waiting := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		waiting <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(release); server.Close() })
	newOrigin(t) // skips without git
	var problem *Error
	if _, _, err := fetch(t, &Options{Idle: 100 * time.Millisecond}, request(server.URL+"/x.git")); !errors.As(err, &problem) || problem.Problem != Network {
		t.Errorf("idle: %v", err)
	}
	for len(waiting) > 0 {
		<-waiting
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	into, err := quarantine.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	go func() {
		_, err := New(&Options{Env: gitEnv(t.TempDir())}).Fetch(ctx, source.Request{Source: source.Source{Location: server.URL + "/x.git"}, Named: true}, into)
		ended <- err
	}()
	<-waiting
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWrongPacks gets packs that promise more than they hold.
func TestWrongPacks(t *testing.T) {
	t.Parallel()
	newOrigin(t)
	id := strings.Repeat("12", 20)
	for name, pack := range map[string]string{
		"no pack":              "nothing",
		"four billion objects": "PACK\x00\x00\x00\x02\xff\xff\xff\xff",
		"a huge object":        "PACK\x00\x00\x00\x02\x00\x00\x00\x01\xbf\xff\xff\xff\xff\xff\xff\x7f",
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
					io.WriteString(w, line("# service=git-upload-pack\n")+"0000"+line(id+" HEAD\x00side-band-64k shallow no-progress ofs-delta symref=HEAD:refs/heads/main\n")+line(id+" refs/heads/main\n")+"0000")
					return
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				io.WriteString(w, line("shallow "+id)+"0000"+line("NAK\n")+line("\x01"+pack)+"0000")
			})}
			served := make(chan struct{})
			go func() { defer close(served); server.Serve(listener) }()
			t.Cleanup(func() { server.Close(); <-served })
			if _, _, err := fetch(t, nil, request("http://"+listener.Addr().String()+"/x.git")); err == nil {
				t.Error("accepted")
			}
		})
	}
}

// line returns a pkt-line (gitprotocol-common(5)).
func line(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x00"+strings.Repeat("x", 20)), true)
	f.Add([]byte("40000 \x00"), false)
	f.Fuzz(func(t *testing.T, content []byte, short bool) {
		size := 32
		if short {
			size = 20
		}
		files, err := parseTree(content, size)
		if err == nil && len(content) > 0 && len(files) == 0 {
			t.Error("lost entries")
		}
		for _, f := range files {
			if len(f.id) != 2*size {
				t.Errorf("id %q", f.id)
			}
		}
	})
}

func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"ext::sh -c x", "https://a::b/x", "git@h:x", "ssh://-o/x", "file:///x", "a::b@c:d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLocation(text)
		if err != nil {
			return
		}
		if strings.HasPrefix(l.url, "-") || isHelper(l.url) || l.host != "" && l.host[0] == '-' {
			t.Errorf("accepted %q as %+v", text, l)
		}
	})
}
