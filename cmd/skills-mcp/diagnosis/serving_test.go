package diagnosis

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestCheckCertificate(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		life   time.Duration
		url    string
		level  sandbox.Level
		detail string
	}{
		"fine":         {60 * 24 * time.Hour, "https://skills.example", sandbox.LevelOK, ", until "},
		"no url":       {60 * 24 * time.Hour, "", sandbox.LevelOK, ", until "},
		"another name": {60 * 24 * time.Hour, "https://other.example", sandbox.LevelWarning, "is not for other.example"},
		"ends soon":    {24 * time.Hour, "https://skills.example", sandbox.LevelWarning, "is valid until "},
		"has ended":    {-time.Hour, "https://skills.example", sandbox.LevelWarning, "is valid until "},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := makeCertificate(t, dir, test.life)
			got := checkCertificate(cert, key, test.url, func(string, fs.FileInfo) error { return nil })
			if got.Level != test.level || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("finding %+v", got)
			}
		})
	}
	cert, key := makeCertificate(t, dir, time.Hour)
	refused := func(string, fs.FileInfo) error { return fs.ErrPermission }
	if got := checkCertificate(cert, key, "", refused); got.Level != sandbox.LevelFailed {
		t.Errorf("a key that others can read: %+v", got)
	}
	if got := checkCertificate(filepath.Join(dir, "none"), key, "", refused); got.Level != sandbox.LevelFailed {
		t.Errorf("no file: %+v", got)
	}
}

// makeCertificate writes a certificate for skills.example and its key.
func makeCertificate(t *testing.T, dir string, life time.Duration) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"skills.example"}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(life)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}
