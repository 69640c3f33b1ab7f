package lab

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The skills here are as people publish them: a name, a description, instructions and a
// script. Nothing in their files is for skills-mcp.

// WeatherSkill is a skill that fetches from a host, in Python and with curl.
func (a *Account) WeatherSkill(address string) {
	a.T.Helper()
	a.Skill("weather/SKILL.md", `---
name: weather
description: Get current weather and forecasts. Use when the user asks about weather anywhere.
license: MIT
---
# Weather

Run the script with a city:

    python3 scripts/weather.py London

Where there is no Python, `+"`scripts/forecast.sh London`"+` does the same.
`)
	a.Skill("weather/scripts/weather.py", `#!/usr/bin/env python3
"""Print the weather of a city."""
import argparse
import urllib.parse
import urllib.request


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("city", help="name of the city")
    args = parser.parse_args()
    with urllib.request.urlopen("https://`+address+`/" + urllib.parse.quote(args.city), timeout=30) as answer:
        print(answer.read().decode())


if __name__ == "__main__":
    main()
`)
	a.Skill("weather/scripts/forecast.sh", `#!/usr/bin/env bash
set -euo pipefail
curl -fsS "https://`+address+`/$1"
`)
}

// DocxSkill is a skill that edits a Word document in place.
func (a *Account) DocxSkill() {
	a.T.Helper()
	a.Skill("docx/SKILL.md", `---
name: docx
description: Edit Word documents (.docx). Use when the user wants text in a document replaced.
license: Proprietary. LICENSE.txt has complete terms
---
# DOCX editing

A .docx file is a ZIP archive of XML files. To replace text in one:

    python scripts/replace.py report.docx --find Draft --replace Final
`)
	a.Skill("docx/scripts/replace.py", `#!/usr/bin/env python3
"""Replace text in a Word document, in place."""
import argparse
import os
import shutil
import tempfile
import zipfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path, help="the .docx file to edit")
    parser.add_argument("--find", required=True)
    parser.add_argument("--replace", required=True)
    args = parser.parse_args()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        edited = os.path.join(folder, "edited.docx")
        with zipfile.ZipFile(args.document) as old, zipfile.ZipFile(edited, "w", zipfile.ZIP_DEFLATED) as new:
            for item in old.infolist():
                data = old.read(item)
                if item.filename == "word/document.xml":
                    text = data.decode("utf-8")
                    count = text.count(args.find)
                    data = text.replace(args.find, args.replace).encode("utf-8")
                new.writestr(item, data)
        shutil.copyfile(edited, args.document)
    print(f"replaced {count} in {args.document.name}")


if __name__ == "__main__":
    main()
`)
}

// Document writes a Word document with a text into the workspace.
func (a *Account) Document(name, text string) {
	a.T.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"[Content_Types].xml": `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
		"_rels/.rels":         `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml":   `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`,
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			a.T.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		a.T.Fatal(err)
	}
	path := filepath.Join(a.Workspace, name)
	WriteFile(a.T, path, b.String())
	if err := os.Chmod(path, 0o666); err != nil {
		a.T.Fatal(err)
	}
}

// DocumentText returns the XML of a Word document of the workspace.
func (a *Account) DocumentText(name string) string {
	a.T.Helper()
	z, err := zip.OpenReader(filepath.Join(a.Workspace, name))
	if err != nil {
		a.T.Fatal(err)
	}
	defer z.Close()
	file, err := z.Open("word/document.xml")
	if err != nil {
		a.T.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		a.T.Fatal(err)
	}
	return string(text)
}

// A TlsHost is a server with TLS, whose certificate a private authority has signed.
type TlsHost struct {
	Address   string // host and port
	Authority string // the authority's certificate, as PEM
	// Certificate is for every port of its address.
	Certificate tls.Certificate
	Requests    atomic.Int64
	Heard       atomic.Value // the last request's authorization, a string
	Brought     sync.Map     // each request's authorization, a string
}

// NewTLSHost starts one on an address of this machine that programs reach through a proxy:
// the egress proxy's variables except localhost and 127.0.0.1.
func NewTLSHost(t *testing.T) *TlsHost {
	t.Helper()
	const address = "127.0.0.2"
	h := &TlsHost{}
	authority, key := certificate(t, &x509.Certificate{Subject: pkix.Name{CommonName: "the test's authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	leaf, leafKey := certificate(t, &x509.Certificate{Subject: pkix.Name{CommonName: address}, IPAddresses: []net.IP{net.ParseIP(address)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, authority, key)
	h.Authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw}))

	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Requests.Add(1)
		h.Heard.Store(r.Header.Get("Authorization"))
		h.Brought.Store(r.Header.Get("Authorization"), true)
		if r.URL.Path == "/echo" {
			fmt.Fprint(w, r.Header.Get("Authorization"))
			return
		}
		fmt.Fprintf(w, "%s: sunny, 21 °C", strings.TrimPrefix(r.URL.Path, "/"))
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	h.Certificate = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{h.Certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	h.Address = listener.Addr().String()
	return h
}

// certificate makes a certificate that an authority signs; nil is the certificate itself.
func certificate(t *testing.T, template, authority *x509.Certificate, authorityKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if authority == nil {
		authority, authorityKey = template, key
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	raw, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}
