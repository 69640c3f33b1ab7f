//go:build amd64 || arm64

package native

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// systemFolders are the host's, read-only in every sandbox. /opt is among them
// as programs that are installed there have links in /usr/local/bin, /nix/store
// as on NixOS every program is there.
var systemFolders = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system"}

// etcPatterns match the parts of /etc that programs need to start and to work
// offline. Files that may hold a secret (npmrc, pip.conf, gitconfig,
// ssl/private) are not among them.
var etcPatterns = [...]string{
	"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-*.path", "alternatives", // linking
	"localtime", "timezone", "locale.conf", "os-release", "lsb-release", "debian_version", "alpine-release",
	"mime.types", "magic", "protocols", "services", "shells",
	"ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/ca-trust", "pki/tls/certs",
	"pki/tls/cert.pem", "pki/tls/openssl.cnf", "crypto-policies",
	"python[0-9]*", "perl", "java*", "R", "fonts", "ImageMagick*", "libreoffice", "ghostscript", "texmf", "paper*",
}

// devices are the host's device files that every sandbox has.
var devices = [...]string{"null", "zero", "full", "random", "urandom"}

// maskedPaths lists the paths that Docker covers, less those in /sys.
var maskedPaths = [...]string{"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys",
	"/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi"}

// defaultPath is the sandbox's PATH, searched for programs.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// systemPath is defaultPath, and where NixOS has its programs.
func systemPath() string {
	const nix = "/run/current-system/sw/bin"
	if _, err := os.Stat(nix); err != nil {
		return defaultPath
	}
	return defaultPath + ":" + nix
}

// hostname is that of every sandbox.
const hostname = "sandbox"

// A layout holds the mounts, links and files that all sandboxes on a machine
// have.
type layout struct {
	Mounts []mount // attached in this order
	Links  []link
	Files  []file // below /etc

	masks []mask // for the sequence of an init
}

// A mount shows a folder or file of the host in the sandbox.
type mount struct {
	Source   string // the host's path
	Around   string // a folder that Source is in, below which no symbolic link is followed; or ""
	Target   string // the sandbox's path
	Write    bool
	Device   bool // a device file; elsewhere devices do not work
	Optional bool // no error when Source has gone
	Inside   bool // Target is there, in another mount
}

// A link is a symbolic link of the sandbox's root.
type link struct{ Path, To string }

// A file is a small file of the sandbox's root.
type file struct{ Path, Text string }

// A mask is a path that is covered.
type mask struct {
	path   string
	folder bool
}

// systemLayout returns the layout of this machine.
func systemLayout(uid, gid int) *layout {
	s := &layout{
		Links: []link{
			{"/dev/fd", "/proc/self/fd"},
			{"/dev/stdin", "/proc/self/fd/0"},
			{"/dev/stdout", "/proc/self/fd/1"},
			{"/dev/stderr", "/proc/self/fd/2"},
			{"/var/tmp", "/tmp"},
		},
		Files: []file{
			{"/etc/passwd", fmt.Sprintf("root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:%d:%d:user:/tmp:/bin/sh\n", uid, gid)},
			{"/etc/group", fmt.Sprintf("root:x:0:\nuser:x:%d:\n", gid)},
			{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"},
			{"/etc/hosts", "127.0.0.1 localhost " + hostname + "\n::1 localhost\n"},
			{"/etc/hostname", hostname + "\n"},
			{"/etc/resolv.conf", ""},
		},
	}
	for _, path := range systemFolders {
		s.show(path)
	}
	for _, pattern := range etcPatterns {
		paths, _ := filepath.Glob("/etc/" + pattern) // the patterns are well-formed
		for _, path := range paths {
			s.show(path)
		}
	}
	for _, path := range maskedPaths {
		if info, err := os.Stat(path); err == nil {
			s.masks = append(s.masks, mask{path, info.IsDir()})
		}
	}
	for _, name := range devices {
		s.Mounts = append(s.Mounts, mount{Source: "/dev/" + name, Target: "/dev/" + name, Device: true})
	}
	return s
}

// show adds the host's path as it is there: a link as a link, as /bin is on
// most systems, and else a mount.
func (s *layout) show(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if info.Mode()&os.ModeSymlink == 0 {
		s.Mounts = append(s.Mounts, mount{Source: path, Target: path, Optional: true})
		return
	}
	if to, err := os.Readlink(path); err == nil {
		s.Links = append(s.Links, link{Path: path, To: to})
	}
}

// closedFolders are the sandbox's own: a workspace can neither be in one nor
// cover it.
var closedFolders = [...]string{"/skill", "/out", "/plugin-data", "/dev", "/proc", "/sys"}

// openFolders may have workspaces in them, but cannot be covered.
var openFolders = [...]string{"/tmp", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// checkWorkspace identifies a workspace. The error says why a folder cannot be at its
// own path in the sandbox.
func checkWorkspace(path string) (inode, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return inode{}, fmt.Errorf("workspace %q: not a clean absolute path", path)
	}
	for _, closed := range closedFolders {
		if sandbox.Within(path, closed) {
			return inode{}, fmt.Errorf("workspace %s: %s is the sandbox's own; choose another folder", path, closed)
		}
	}
	for _, own := range slices.Concat(closedFolders[:], openFolders[:]) {
		if sandbox.Within(own, path) {
			return inode{}, fmt.Errorf("workspace %s: it would cover the sandbox's own %s; choose a folder below it", path, own)
		}
	}
	return checkFolder(path)
}

// An inode identifies a folder of the host while it exists.
type inode struct{ device, number uint64 }

// checkFolder identifies a folder. The error says why it is none.
func checkFolder(path string) (inode, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return inode{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return inode{}, fmt.Errorf("%s is not a folder", path)
	}
	return inode{stat.Dev, stat.Ino}, nil
}
