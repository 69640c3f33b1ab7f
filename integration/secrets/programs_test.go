package secrets

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/native"
	"github.com/skillsmcp/skills-mcp/server/secrets"
)

const (
	host     = "api.example.com"
	unmasked = "plain.example.com" // the same bank, for which there is no secret
	value    = "ghp_ThisIsTheRealToken0123456789abcd"
	sentinel = "ghp_AbcdEfGhiJklMnopQrstu9876543210z"
)

// A bank is a host that answers what the programs of the test want, and keeps which of them
// brought the real token. A program names itself in the path.
type bank struct {
	certificate tls.Certificate
	roots       *x509.CertPool
	mu          sync.Mutex
	came        map[string]bool
}

func newBank(t *testing.T) *bank {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host, unmasked}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	b := &bank{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots: x509.NewCertPool(), came: map[string]bool{}}
	b.roots.AddCert(leaf)
	return b
}

func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	program, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	_, password, _ := r.BasicAuth()
	real := r.Header.Get("Authorization") == "Bearer "+value || r.Header.Get("Authorization") == "token "+value || password == value || r.URL.Query().Get("token") == value
	b.mu.Lock()
	b.came[program] = b.came[program] || real
	b.mu.Unlock()
	switch {
	case !real:
		w.Header().Set("WWW-Authenticate", `Basic realm="bank"`)
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasPrefix(program, "git") && rest == "info/refs":
		fmt.Fprintf(w, "%040d\trefs/heads/main\n", 7)
	case program == "pip":
		fmt.Fprint(w, "<!DOCTYPE html><html><body></body></html>")
	case program == "npm" || program == "api": // gh asks /api/v3/
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"name": "demo", "login": "demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "demo", "version": "1.0.0"}}}`)
	default:
		fmt.Fprintf(w, "%s heard %s%s\n", program, r.Header.Get("Authorization"), r.URL.RawQuery)
	}
}

// heard reports whether a program brought the real token.
func (b *bank) heard(program string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.came[program]
}

// options returns the options of a proxy that takes every name for the bank's.
func (b *bank) options(t *testing.T) *egress.Options {
	t.Helper()
	server := httptest.NewUnstartedServer(b)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{b.certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return &egress.Options{
		Resolver: everywhere{}, Roots: b.roots,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
}

// everywhere resolves every name to an address that looks public.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
}

// programs ask for a path that begins with their name, with the token of a variable. None
// is told of a proxy or of an authority.
var programs = map[string]struct {
	needs  string // a shell command that succeeds where it can be tried
	script string
}{
	"curl":       {"command -v curl", `curl -sS -H "Authorization: Bearer $TOKEN" https://` + host + `/curl`},
	"curl-http1": {"command -v curl", `curl -sS --http1.1 -u "me:$TOKEN" https://` + host + `/curl-http1`},
	"query":      {"command -v curl", `curl -sS "https://` + host + `/query?token=$TOKEN"`},
	"urllib": {"command -v python3", `python3 -c '
import os, urllib.request as u
print(u.urlopen(u.Request("https://` + host + `/urllib", headers={"Authorization": "Bearer " + os.environ["TOKEN"]})).read().decode())'`},
	"http.client": {"command -v python3", `python3 -c '
import os, http.client, urllib.parse
proxy = urllib.parse.urlparse(os.environ["HTTPS_PROXY"])
c = http.client.HTTPSConnection(proxy.hostname, proxy.port)
c.set_tunnel("` + host + `", 443)
c.request("GET", "/http.client", headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
print(c.getresponse().read().decode())'`},
	"requests": {"python3 -c 'import requests'", `python3 -c '
import os, requests
print(requests.get("https://` + host + `/requests", headers={"Authorization": "Bearer " + os.environ["TOKEN"]}).text)'`},
	// Node.js heeds proxies from 22.21 and 24.5 on.
	"fetch": {nodeHeedsProxies, `node -e '
fetch("https://` + host + `/fetch", {headers: {Authorization: "Bearer " + process.env.TOKEN}}).then(r => r.text()).then(console.log)'`},
	"https": {nodeHeedsProxies, `node -e '
require("https").get("https://` + host + `/https", {headers: {Authorization: "Bearer " + process.env.TOKEN}}, r => r.pipe(process.stdout))'`},
	"git":    {gitOfSkill + "git --version", gitOfSkill + `git ls-remote "https://x-access-token:$TOKEN@` + host + `/git"`},
	"pip":    {"python3 -m pip --version", `python3 -m pip download --quiet --no-cache-dir --no-deps --dest /tmp --index-url "https://me:$TOKEN@` + host + `/pip" demo 2>&1 | grep -c . ; true`},
	"npm":    {"node /skill/npm/bin/npm-cli.js --version", `node /skill/npm/bin/npm-cli.js view demo name --registry https://` + host + `/npm/ --//` + host + `/npm/:_authToken="$TOKEN"`},
	"api":    {"command -v gh", `GH_ENTERPRISE_TOKEN=$TOKEN GH_HOST=` + host + ` gh api user`},
	"go-net": {"test -x /skill/go-net", `/skill/go-net`},

	// These read it from a file.
	"netrc":     {"command -v curl", `curl -sS --netrc https://` + host + `/netrc`},
	"git-store": {gitOfSkill + "git --version", gitOfSkill + `git -c credential.helper=store ls-remote https://` + host + `/git-store`},
	"py-netrc": {"command -v python3", `python3 -c '
import base64, netrc, urllib.request as u
name, _, password = netrc.netrc().authenticators("` + host + `")
basic = base64.b64encode((name + ":" + password).encode()).decode()
print(u.urlopen(u.Request("https://` + host + `/py-netrc", headers={"Authorization": "Basic " + basic})).read().decode())'`},
	"yaml":     {"command -v curl", `curl -sS -H "Authorization: token $(sed -n 's/^  token: //p' ~/.config/app/app.yaml)" https://` + host + `/yaml`},
	"database": {"command -v curl", `p=${DATABASE_URL#*://*:}; curl -sS -u "me:${p%%@*}" https://` + host + `/database`},
	"mode":     {"command -v curl", `[ "$(stat -c %a ~/.netrc ~/.config/app)" = "$(printf '600\n700')" ] && curl -sS --netrc https://` + host + `/mode`},

	"java-client":     {"command -v javac", `java /skill/Ask.java java-client`},
	"java-connection": {"command -v javac", `java /skill/Ask.java java-connection`},

	// Nothing that a program of the sandbox can read has the token; the sentinel shows that
	// this one would find it.
	"search": {"command -v python3", `curl -sS --netrc https://` + host + `/search; python3 /skill/search.py ` + shifted(value) + ` && ! python3 /skill/search.py ` + shifted(sentinel)},
}

// shifted returns a text with the next character for each: a program that looks for the text
// by it does not have the text.
func shifted(text string) string {
	b := []byte(text)
	for i := range b {
		b[i]++
	}
	return string(b)
}

// search fails if a file, an environment or its memory has the text that is shifted in its
// argument.
const search = `import glob, os, sys
needle, next = sys.argv[1].encode(), bytes((i + 1) % 256 for i in range(256))
def look(where, read):
    try:
        if needle in read().translate(next):
            print("found in", where); sys.exit(1)
    except OSError: pass
def file(name): return lambda: open(name, "rb").read()
def memory(line):
    begin, end = (int(x, 16) for x in line.split()[0].split("-"))
    def read():
        with open("/proc/self/mem", "rb", 0) as f:
            f.seek(begin); return f.read(end - begin)
    return read
places = [p for kind in ("environ", "cmdline") for p in glob.glob("/proc/[0-9]*/" + kind)]
for top in ("/tmp", "/out", "/skill", "/run", "/dev/shm", "/etc"):
    places += [os.path.join(d, f) for d, _, files in os.walk(top) for f in files if os.path.isfile(os.path.join(d, f))]
for place in places: look(place, file(place))
maps = [l for l in open("/proc/self/maps") if l.split()[1][0] == "r" and "[v" not in l]
for line in maps: look(line.strip(), memory(line))
print("nothing in", len(places), "files and", len(maps), "mappings")
`

// ask is a program in Java, of one file, for both of its clients.
const ask = `import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.security.KeyStore;
import javax.net.ssl.*;

class Ask {
	public static void main(String[] args) throws Exception {
		var url = URI.create("https://` + host + `/" + args[0]);
		var token = "Bearer " + System.getenv("TOKEN");
		int status;
		if (args[0].equals("java-client")) {
			var request = HttpRequest.newBuilder(url).header("Authorization", token).build();
			status = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
		} else {
			var connection = (HttpsURLConnection) url.toURL().openConnection();
			connection.setRequestProperty("Authorization", token);
			status = connection.getResponseCode();
		}
		var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		factory.init((KeyStore) null);
		var known = ((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers().length;
		var all = Files.readString(Path.of("` + egress.Trust + `")).split("BEGIN CERT", -1).length - 1;
		System.out.println(status + ", trusts " + known + " of " + all);
		System.exit(status == 200 && known == all ? 0 : 1);
	}
}
`

// holders are texts that skills find in files or variables, with a pattern of the token.
var holders = map[string][2]string{
	"~/.netrc":               {"machine " + host + " login me password " + value + "\n", `password (\S+)`},
	"~/.git-credentials":     {"https://me:" + value + "@" + host + "\n", `://[^:]+:([^@]+)@`},
	"~/.config/app/app.yaml": {"app:\n  host: " + host + "\n  token: " + value + "\n", `token: (\S+)`},
	"DATABASE_URL":           {"postgres://me:" + value + "@db.example.com/main", `://[^:]+:([^@]+)@`},
}

// gitOfSkill has git run from the skill's folder where the sandbox has none.
const gitOfSkill = `command -v git >/dev/null || git() { LD_LIBRARY_PATH=/skill/lib GIT_EXEC_PATH=/skill/git /skill/git/git "$@"; }; `

const nodeHeedsProxies = `node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 24 || a === 24 && b >= 5 || a === 22 && b >= 21 ? 0 : 1)'`

// goProgram is one of net/http.
const goProgram = `package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	r, _ := http.NewRequest("GET", "https://` + host + `/go-net", nil)
	r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	answer, err := http.DefaultClient.Do(r)
	if err != nil { fmt.Println(err); os.Exit(1) }
	body, _ := io.ReadAll(answer.Body)
	fmt.Printf("%s %s\n", answer.Proto, body)
}
`

// bring copies what the machine has of the programs, and the image has not, into a folder.
func bring(t *testing.T, folder string) {
	t.Helper()
	script := `set -eu; cd "$1"; mkdir bin git lib python
copy() { [ ! -e "$1" ] || cp -rLT --reflink=auto "$1" "$2"; }
copy "${SKILLS_MCP_TEST_TOOLS:-/none}/node" bin/node
copy "$(command -v gh)" bin/gh
copy "$(command -v git)" git/git
for f in /usr/lib/git-core/git-remote-http /usr/lib/git-core/git-remote-https; do copy $f git/$(basename $f); done
ldd git/git git/git-remote-http 2>/dev/null | sed -n 's/.* => \(.*\) (.*/\1/p' | grep -Ev '/(libc|libm|libdl|libpthread|libresolv)\.so' | sort -u | xargs -r cp -Lt lib
for f in requests urllib3 idna certifi chardet charset_normalizer six.py pip; do copy /usr/lib/python3/dist-packages/$f python/$f; done
npm=$(readlink -f "$(command -v npm)") || npm=/none
copy "${npm%/bin/npm-cli.js}" npm
chmod -R a+rX .`
	if out, err := exec.Command("bash", "-c", script, "bash", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// skill returns a folder with the program in Go, and programs of this machine.
func skill(t *testing.T) string {
	t.Helper()
	folder := openFolder(t)
	bring(t, folder)
	source := filepath.Join(t.TempDir(), "main.go")
	lab.WriteFile(t, source, goProgram)
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "go-net"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lab.WriteFile(t, filepath.Join(folder, "search.py"), search)
	lab.WriteFile(t, filepath.Join(folder, "Ask.java"), ask)
	return folder
}

// openFolder returns an empty folder that others may read.
func openFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for dir := folder; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// engine returns the opener of a driver of containers; variable is that of the engine's
// address.
func engine(variable, runtime string) func(*testing.T, *egress.Options) sandbox.Driver {
	return func(t *testing.T, options *egress.Options) sandbox.Driver {
		if variable == "" {
			lab.Requires(t, "SKILLS_MCP_REQUIRE_ENGINE", lab.CheckDocker(t.Context()))
		} else if os.Getenv(variable) == "" {
			lab.Requires(t, "SKILLS_MCP_REQUIRE_ENGINE", fmt.Errorf("%s is not set", variable))
		}
		return docker.New(&docker.Options{
			Images: map[string]string{"default": lab.TestImage()}, Host: os.Getenv(cmp.Or(variable, "DOCKER_HOST")), Runtime: runtime,
			Places: docker.Places{Home: os.Getenv("HOME"), RuntimeDir: os.Getenv("XDG_RUNTIME_DIR")},
			Dir:    t.TempDir(), Forwarder: lab.Binary, Egress: options,
		})
	}
}

// drivers returns the openers of each kind of sandbox.
func drivers() map[string]func(*testing.T, *egress.Options) sandbox.Driver {
	return map[string]func(*testing.T, *egress.Options) sandbox.Driver{
		"native": func(t *testing.T, options *egress.Options) sandbox.Driver {
			lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
			return native.New(&native.Options{Egress: options})
		},
		"docker": engine("", ""), "gVisor": engine("SKILLS_MCP_TEST_RUNSC", "runsc"), "Podman": engine("SKILLS_MCP_TEST_PODMAN", ""),
	}
}

// Each program, unmodified, brings the real token to the host, and neither has it nor sees
// it, in each kind of sandbox.
func TestPrograms(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the sandboxes are Linux's")
	}
	folder := skill(t)
	for name, open := range drivers() {
		t.Run(name, func(t *testing.T) {
			b := newBank(t)
			runner := sandbox.New(open(t, b.options(t)), nil)
			defer func() {
				if err := runner.Close(); err != nil {
					t.Error(err)
				}
			}()
			for program, test := range programs {
				t.Run(program, func(t *testing.T) {
					env, list, files := []string{"TOKEN=" + sentinel}, []sandbox.Secret{{Sentinel: sentinel}}, []egress.File{}
					for place, holder := range holders {
						text, sentinels, err := secrets.Mask(holder[0], holder[1])
						if err != nil || strings.Contains(text, value) {
							t.Fatal(text, err)
						}
						list = append(list, sandbox.Secret{Sentinel: sentinels[value]})
						if strings.HasPrefix(place, "~") {
							files = append(files, egress.File{Path: place, Text: text})
						} else {
							env = append(env, place+"="+text)
						}
					}
					for i := range list {
						list[i].Name, list[i].Value, list[i].Hosts, list[i].Methods = "TOKEN", value, []string{host}, []string{"GET"}
					}
					cmd, err := egress.Equip(&sandbox.Command{
						RunID: "test", Skill: "test", Folder: folder, Warm: -1,
						Argv: []string{"sh", "-c", `export PATH=/skill/bin:$PATH PYTHONPATH=/skill/python
` + test.needs + ` >/dev/null 2>&1 || exit 77
` + test.script + `
code=$?
env; cat /proc/self/environ | tr '\0' '\n'; grep -c BEGIN ` + egress.Trust + `
exit $code`},
						Env:    env,
						Limits: sandbox.Limits{Timeout: lab.Patience, Memory: 4 << 30}, // Java reserves much, which counts where there is no cgroup
						Grant:  sandbox.Grant{Hosts: []string{host}, Secrets: &sandbox.Secrets{List: list}},
					}, files...)
					if err != nil {
						t.Fatal(err)
					}
					exit, err := runner.Run(t.Context(), *cmd)
					if err != nil {
						t.Fatal(err)
					}
					out := append(exit.Stdout.Bytes(), exit.Stderr.Bytes()...)
					if exit.Code == 77 {
						if strings.Contains(test.needs, "javac") { // too big to come along
							t.Skipf("SKIPPED: there is no Java")
						}
						lab.Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", fmt.Errorf("the image or this machine has none for which %q succeeds", test.needs))
					}
					if exit.Code != 0 || !b.heard(program) {
						t.Errorf("exit %d; brought the token: %v\n%s\n%+v", exit.Code, b.heard(program), out, exit.Connections)
					}
					if bytes.Contains(out, []byte(value)) {
						t.Errorf("it sees the token:\n%s", out)
					}
				})
			}
		})
	}
}
