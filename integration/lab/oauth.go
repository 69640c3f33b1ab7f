package lab

import (
	"bufio"
	"encoding/json"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OpenIDProvider starts a real OpenID provider, and returns its issuer.
func OpenIDProvider(t *testing.T, tools, scripts string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(tools, "node"), filepath.Join(scripts, "provider.mjs"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	issuer, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(issuer)
}

// A SignedIn is the output of the script signin.mjs.
type SignedIn struct {
	Token, Skills string
	Tools         []string
}

// SignIn runs the script signin.mjs.
func SignIn(t *testing.T, tools, scripts string, target map[string]any) (in SignedIn) {
	t.Helper()
	argument, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "node"), filepath.Join(scripts, "signin.mjs"), string(argument))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &in)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	return in
}

// FreeAddress returns an address that nobody listens on.
func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
