package endpoint

import (
	"os"
	"path/filepath"
	"testing"
)

// The newest live page is the one that servers lead to, and a killed program's is none.
func TestPageAddresses(t *testing.T) {
	p := Pages{dir: filepath.Join(t.TempDir(), "pages")}
	want := func(want string) {
		t.Helper()
		if got, ok := p.Approval("a/b"); got != want || ok != (want != "") {
			t.Errorf("led to %q, %v; want %q", got, ok, want)
		}
	}
	want("")
	dead := filepath.Join(p.dir, "dead")
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dead + ".json", dead + ".lock"} {
		if err := os.WriteFile(name, []byte(`{"url": "http://127.0.0.1:1/ui/", "pid": 1}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want("")
	withdraw, err := p.Publish("http://127.0.0.1:2/ui/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead + ".json"); err == nil {
		t.Error("the file of the killed program stays")
	}
	want("http://127.0.0.1:2/ui/approvals/a%2Fb")
	if withdraw(); len(p.names()) > 0 {
		t.Errorf("%v stay", p.names())
	}
	want("")
	if withdraw, err = (Pages{}).Publish("http://127.0.0.1:2/ui/"); err != nil {
		t.Error(err)
	}
	withdraw()
	if _, ok := (Pages{}).Approval("a"); ok {
		t.Error("a page without a state folder")
	}
}

// A program that writes into the folder leads nobody to another machine.
func TestForgedPageAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:1/ui/": true, "http://localhost:1/ui/": true, "http://[::1]:1/ui/": true,
		"http://evil.example.com:1/ui/": false, "https://127.0.0.1:1/ui/": true, "https://203.0.113.7:1/ui/": false, "ftp://127.0.0.1:1/ui/": false, "http://127.0.0.1:1@evil.example.com:1/ui/": false,
		"http://203.0.113.7:1/ui/": false, "http://127.0.0.1:1/x/ui/": false, "http://127.0.0.1:1/ui/?next=/ui/": false, "http://127.0.0.1/ui/": false,
		"http://evil.example.com:1/#http://127.0.0.1:1/ui/": false, "javascript:1/ui/": false, "http://127.0.0.1.evil.example.com:1/ui/": false,
	} {
		p := Pages{dir: filepath.Join(t.TempDir(), "pages")}
		withdraw, err := p.Publish(address)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Approval("a"); ok != want {
			t.Errorf("%s leads to %q", address, got)
		}
		withdraw()
	}
}
