package docker

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestHosts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the places are those of Unix")
	}
	home := t.TempDir()
	for name, test := range map[string]struct {
		places Places
		first  string
		has    []string
	}{
		"nothing known":  {Places{}, "unix:///var/run/docker.sock", []string{"unix:///run/podman/podman.sock"}},
		"DOCKER_HOST":    {Places{DockerHost: "tcp://far:2375", Home: home}, "tcp://far:2375", nil},
		"home":           {Places{Home: "/h"}, "unix:///var/run/docker.sock", []string{"unix:///h/.docker/run/docker.sock", "unix:///h/.colima/default/docker.sock"}},
		"runtime folder": {Places{RuntimeDir: "/run/user/7"}, "unix:///var/run/docker.sock", []string{"unix:///run/user/7/docker.sock", "unix:///run/user/7/podman/podman.sock"}},
	} {
		t.Run(name, func(t *testing.T) {
			hosts := test.places.Hosts()
			if hosts[0] != test.first {
				t.Errorf("first is %s, want %s", hosts[0], test.first)
			}
			for _, want := range test.has {
				if !slices.Contains(hosts, want) {
					t.Errorf("%s is not in %q", want, hosts)
				}
			}
		})
	}
}

func TestHostsContext(t *testing.T) {
	home := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(home, ".docker", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	meta := func(name, host string) {
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
		write("contexts/meta/"+digest+"/meta.json", fmt.Sprintf(`{"Name":%q,"Endpoints":{"docker":{"Host":%q}}}`, name, host))
	}
	meta("colima", "unix:///colima.sock")
	meta("far", "ssh://far")
	for config, want := range map[string]string{
		`{"currentContext":"colima"}`:  "unix:///colima.sock",
		`{"currentContext":"default"}`: "",
		`{"currentContext":"gone"}`:    "",
		`{}`:                           "",
		`not JSON`:                     "",
	} {
		write("config.json", config)
		if got := (Places{Home: home}).contextHost(); got != want {
			t.Errorf("%s: host %q, want %q", config, got, want)
		}
	}
	if got := (Places{Home: home, Context: "far"}).Hosts()[0]; got != "ssh://far" {
		t.Errorf("DOCKER_CONTEXT=far: first host %q", got)
	}
	if got := (Places{ConfigDir: filepath.Join(home, ".docker"), Context: "colima"}).contextHost(); got != "unix:///colima.sock" {
		t.Errorf("DOCKER_CONFIG: host %q", got)
	}
}
