//go:build amd64 || arm64

package native

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestDiagnose(t *testing.T) {
	refusal := &fs.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: unix.EPERM}
	for name, test := range map[string]struct {
		files   map[string]string // below /proc
		release string
		admin   bool
		err     error
		want    string // in the reason
		remedy  string // in the remedy
	}{
		"old kernel": {
			release: "5.10.0-28-amd64",
			want:    "needs Linux 5.14 or newer, and this is 5.10.0-28-amd64",
			remedy:  "upgrade the kernel",
		},
		"switched off": {
			files:  map[string]string{"sys/user/max_user_namespaces": "0\n"},
			err:    &fs.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: unix.ENOSPC},
			want:   "user.max_user_namespaces is 0",
			remedy: "sysctl -w user.max_user_namespaces=",
		},
		"only for root": {
			files:  map[string]string{"sys/kernel/unprivileged_userns_clone": "0\n"},
			want:   "kernel.unprivileged_userns_clone is 0",
			remedy: "sysctl -w kernel.unprivileged_userns_clone=1",
		},
		"only for root, which the server is": {
			files: map[string]string{"sys/kernel/unprivileged_userns_clone": "0\n"},
			admin: true,
			want:  "does not let the native sandbox be made",
		},
		"AppArmor": {
			files:  map[string]string{"sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
			err:    &failure{Step: stepSetup, What: "make mounts private", Errno: unix.EACCES},
			want:   "kernel.apparmor_restrict_unprivileged_userns is 1",
			remedy: "AppArmor profile",
		},
		"AppArmor that lets us": {
			files: map[string]string{"sys/kernel/apparmor_restrict_unprivileged_userns": "0\n"},
			want:  "does not let the native sandbox be made",
		},
		"hidden /proc": {
			err:    &failure{Step: stepProc, Errno: unix.EPERM},
			want:   "parts of /proc are hidden",
			remedy: "systempaths=unconfined",
		},
		"container": {
			files:  map[string]string{"self/status": "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"},
			want:   "seccomp filter that forbids namespaces",
			remedy: "seccomp=unconfined",
		},
		"too many": {
			err:    unix.EUSERS,
			want:   "limit on namespaces",
			remedy: "raise",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"proc/self/ns/user": {}}
			for path, text := range test.files {
				root["proc/"+path] = &fstest.MapFile{Data: []byte(text)}
			}
			m := machine{root: root, release: test.release, admin: test.admin}
			if m.release == "" {
				m.release = "6.8.0"
			}
			err := test.err
			if err == nil {
				err = refusal
			}
			var got *sandbox.UnavailableError
			if !errors.As(m.diagnose(err), &got) {
				t.Fatalf("no UnavailableError")
			}
			if !strings.Contains(got.Reason, test.want) || !strings.Contains(got.Remedy, test.remedy) || got.Remedy == "" || !errors.Is(got, err) {
				t.Errorf("got reason %q, remedy %q, cause %v", got.Reason, got.Remedy, got.Err)
			}
		})
	}
}

// TestDiagnoseShortage wants errors that pass, such as too many open files, not
// to be blamed on the machine.
func TestDiagnoseShortage(t *testing.T) {
	m := machine{root: fstest.MapFS{}, release: "6.8.0"}
	for _, err := range []error{unix.EMFILE, unix.ENOMEM, unix.EAGAIN, errors.New("other")} {
		if got := m.diagnose(err); got != err {
			t.Errorf("diagnose(%v) = %v", err, got)
		}
	}
}

func TestCheck(t *testing.T) {
	d := newDriver(t)
	found := d.Check(t.Context())
	if len(found) != 2 || found[0].Level != sandbox.LevelOK {
		t.Errorf("got %+v", found)
	}
	for _, f := range found {
		if f.Level != sandbox.LevelOK && f.Remedy == "" {
			t.Errorf("%s: no remedy", f.Subject)
		}
	}
}
