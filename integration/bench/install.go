package main

import (
	"context"
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// installs is a run of the suite install.
type installs struct {
	*bench
	turns uint
	home  string // of all contenders
	url   string // of the server's repositories
}

// skillBytes is the size of the skill that the suite installs.
const skillBytes = 1_000_000

func installSuite() suite {
	s := &installs{}
	return suite{
		name: "install", quick: []string{"turns=1"},
		about: `install installs a skill of 1 MB from a local git daemon: one of binary files, and one
of texts, whose capabilities take longer to find. It prints the time of each program
from its start to its end, in turn, and its ratio to that of the clone:

  git clone        git clone --depth 1
  install --locked what a lock file says: fetched, checked, moved in and synced
  install --yes    the same with the token of a script, whose hash alone takes 600,000
                   rounds of PBKDF2
`,
		flags: func(f *flag.FlagSet) { f.UintVar(&s.turns, "turns", 40, "how many times each is measured") },
		measure: func(ctx context.Context, b *bench) (err error) {
			s.bench, s.home = b, filepath.Join(b.dir, "home")
			binaries, err := s.servers(ctx)
			if err != nil {
				return err
			}
			end, err := s.serve(ctx)
			if err != nil {
				s.Absent = append(s.Absent, fmt.Sprintf("installations: %v", err))
				return ctx.Err()
			}
			defer func() { err = errors.Join(err, end()) }()
			if err := s.writeConfig(); err != nil {
				return err
			}
			return errors.Join(s.compare(ctx, binaries, "binary", noise), s.compare(ctx, binaries, "texts", prose))
		},
	}
}

// An installation is a program that fetches the skill, and the preparation of its next run.
type installation struct {
	*result
	argv    []string
	prepare func() error
}

// compare measures the installation of a skill with files of one kind.
func (s *installs) compare(ctx context.Context, binaries []binary, kind string, content func(*rand.ChaCha8) string) error {
	name := "a skill of 1 MB: " + kind
	if err := s.writeRepository(ctx, kind, content); err != nil {
		return err
	}
	url := s.url + kind
	clone := filepath.Join(s.home, "clone")
	all := []installation{{s.result(name, "git clone"), []string{"git", "clone", "--quiet", "--depth=1", url, clone}, func() error { return os.RemoveAll(clone) }}}
	for _, b := range binaries {
		data := filepath.Join(s.home, "data", kind+b.suffix)
		target := filepath.Join(data, "skills-mcp")
		yes := []string{b.file, "install", "--yes", url}
		all = append(all,
			installation{s.result(name, "install --yes"+b.suffix), s.with(data, yes), func() error { return os.RemoveAll(data) }},
			installation{s.result(name, "install --locked"+b.suffix), s.with(data, []string{b.file, "install", "--locked"}), func() error { // after --yes, and its lock file
				return errors.Join(os.RemoveAll(filepath.Join(target, "skills")), os.RemoveAll(filepath.Join(target, "state")))
			}})
	}
	err := s.inTurn(ctx, all)
	for _, p := range all[1:] {
		p.relate("× the clone", p.figure("ms").rounds, all[0].figure("ms").rounds, quotient)
	}
	return err
}

// inTurn measures each program once in every round, in the same order: --locked needs the
// lock file of --yes.
func (s *installs) inTurn(ctx context.Context, all []installation) error {
	return takeTurns([][]installation{all}, rounds(s.turns), func(all []installation) error {
		for _, p := range all {
			if err := p.prepare(); err != nil {
				return err
			}
			cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
			cmd.Env, cmd.Dir = s.environment(), s.home
			began := time.Now()
			if out, err := output(cmd); err != nil {
				return fmt.Errorf("%q: %w: %.500s", p.argv, err, out)
			}
			p.add("ms", milliseconds(time.Since(began)))
		}
		return nil
	})
}

// with adds the folder of the data to a command line.
func (s *installs) with(data string, argv []string) []string {
	return append([]string{"env", "XDG_DATA_HOME=" + data}, argv...)
}

const installToken = "the token of a script"

func (s *installs) environment() []string {
	return []string{"HOME=" + s.home, "XDG_CONFIG_HOME=" + s.home, "PATH=" + searchPath, "SKILLS_MCP_APPROVAL_TOKEN=" + installToken}
}

// writeConfig writes a configuration with the hash of the token, as "approve
// --new-passphrase" makes it.
func (s *installs) writeConfig() error {
	const iterations = 600_000
	salt := []byte("sixteen bytes...")
	key, err := pbkdf2.Key(sha256.New, installToken, salt, iterations, sha256.Size)
	if err != nil {
		return err
	}
	encode := base64.RawStdEncoding.EncodeToString
	hash := fmt.Sprintf("ed25519-pbkdf2-sha256$%d$%s$%s", iterations, encode(salt), encode(ed25519.NewKeyFromSeed(key).Public().(ed25519.PublicKey)))
	return writeFile(filepath.Join(s.home, "skills-mcp", "config.yaml"), fmt.Sprintf("policy: {script_token: %q}\n", hash))
}

// writeRepository makes a bare repository of a skill that git daemon serves.
func (s *installs) writeRepository(ctx context.Context, kind string, content func(*rand.ChaCha8) string) error {
	work, random := filepath.Join(s.home, "work", kind), rand.NewChaCha8([32]byte{1})
	err := writeFile(filepath.Join(work, "SKILL.md"), "---\nname: "+kind+"\ndescription: Has many files.\n---\n\nRead them.\n")
	for i, size := 0, 0; size < skillBytes && err == nil; i++ {
		text := content(random)
		size += len(text)
		err = writeFile(filepath.Join(work, fmt.Sprintf("file%02d.md", i)), text)
	}
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=x"},
		{"clone", "--quiet", "--bare", work, filepath.Join(s.home, "served", kind)},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = work, s.environment()
		if out, err := output(cmd); err != nil {
			return fmt.Errorf("git %q: %w: %.500s", args, err, out)
		}
	}
	return nil
}

// fileBytes is the size of a file of the skill.
const fileBytes = 50_000

// noise returns bytes that do not compress.
func noise(random *rand.ChaCha8) string {
	data := make([]byte, fileBytes)
	_, _ = random.Read(data) // which never fails
	return string(data)
}

// prose returns sentences.
func prose(random *rand.ChaCha8) string {
	words := strings.Fields("the report shows each quarter with its figures and a table of the largest changes before you send it to anybody read all of the notes in this file and check the totals against the source again")
	var b strings.Builder
	for r := rand.New(random); b.Len() < fileBytes; {
		for range 12 {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString(fmt.Sprintf("%d.\n", r.IntN(1000)))
	}
	return b.String()
}

// serve starts git daemon, which end ends.
func (s *installs) serve(ctx context.Context) (end func() error, err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, err
	}
	root := filepath.Join(s.home, "served")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := listener.Close(); err != nil {
		return nil, err
	}
	// The daemon itself, not "git daemon", which would leave it behind.
	path, err := exec.CommandContext(ctx, "git", "--exec-path").Output()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(strings.TrimSpace(string(path)), "git-daemon"), "--export-all", "--base-path="+root, "--listen=127.0.0.1", "--port="+port)
	cmd.Env = s.environment()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.url = "git://" + address + "/"
	end = func() error {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // which was killed
		return nil
	}
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return end, conn.Close()
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(err, end())
		}
	}
}
