package egress

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// pipes are two connections with nothing but pipes between them, as there are
// between the server and a process in a container. Closing one end closes it all.
func pipes() (here, there io.ReadWriteCloser) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	shut := func() {
		for _, end := range []io.Closer{r1, w1, r2, w2} {
			_ = end.Close()
		}
	}
	return &pipe{r1, w2, shut}, &pipe{r2, w1, shut}
}

type pipe struct {
	io.Reader
	io.Writer
	shut func()
}

func (p *pipe) Close() error {
	p.shut()
	return nil
}

// forward runs a forwarder in front of a proxy, and returns the proxy as it is
// reached through it.
func forward(t *testing.T, w *world, hosts ...string) *running {
	t.Helper()
	p, err := New(sandbox.Grant{Hosts: hosts}, &Options{Resolver: w, Dial: w.dial})
	if err != nil {
		t.Fatal(err)
	}
	here, there := pipes()
	inside := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	forwarded, served := make(chan error, 1), make(chan error, 1)
	go func() { forwarded <- Forward(ctx, inside, there) }()
	outside, err := Listener(here)
	if err != nil {
		t.Fatal(err)
	}
	go func() { served <- p.Serve(outside) }()
	t.Cleanup(func() {
		cancel()
		if err := <-forwarded; err != nil {
			t.Errorf("Forward: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &running{p, t, inside.Addr().String()}
}

func TestForward(t *testing.T) {
	p := forward(t, api(t), "api.example.com")
	status, body := p.get("http://api.example.com/x")
	if want := `GET api.example.com /x "" Connection=close`; status != 200 || body != want {
		t.Errorf("%d %s", status, body)
	}
	reader, conn := p.connect("api.example.com:443")
	if _, err := io.WriteString(conn, "the last"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := text(t, reader); got != "the last" {
		t.Errorf("after the end came %q", got)
	}
}

// Much data passes both ways at once, on many connections, unchanged.
func TestForwardCarriesMuch(t *testing.T) {
	p := forward(t, api(t), "api.example.com:443")
	const size = 3 << 20
	var all sync.WaitGroup
	for i := range 8 {
		reader, conn := p.connect("api.example.com:443")
		all.Go(func() {
			seed := [32]byte{byte(i)}
			if _, err := io.CopyN(conn, rand.NewChaCha8(seed), size); err != nil {
				t.Error(err)
			}
			_ = conn.(*net.TCPConn).CloseWrite()
		})
		all.Go(func() {
			want, got := rand.NewChaCha8([32]byte{byte(i)}), make([]byte, 32<<10)
			expected := make([]byte, len(got))
			for read := 0; read < size; {
				n, err := reader.Read(got)
				if err != nil {
					t.Errorf("after %d bytes: %v", read, err)
					return
				}
				_, _ = want.Read(expected[:n])
				if string(got[:n]) != string(expected[:n]) {
					t.Errorf("after %d bytes: not what was sent", read)
					return
				}
				read += n
			}
		})
	}
	all.Wait()
}

// More connections than may be forwarded at once are served one after the other.
func TestForwardWaits(t *testing.T) {
	p := forward(t, api(t), "api.example.com:80")
	var all sync.WaitGroup
	for range 3 * maxForwarded {
		all.Go(func() {
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "GET http://api.example.com/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
				t.Errorf("%.40q, %v", answer, err)
			}
		})
	}
	all.Wait()
}

// Clients that go away at once do not end the session for those after them.
func TestForwardSurvivesAborts(t *testing.T) {
	p := forward(t, api(t), "api.example.com")
	for range 4 * maxStreams {
		conn := p.dial().(*net.TCPConn)
		_, _ = io.WriteString(conn, "CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		_ = conn.SetLinger(0)
		_ = conn.Close()
	}
	if status, body := p.get("http://api.example.com/"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

func TestForwardEndsWithItsConnection(t *testing.T) {
	here, there := pipes()
	inside := listen(t)
	forwarded := make(chan error, 1)
	go func() { forwarded <- Forward(context.Background(), inside, there) }()
	listener, err := Listener(here)
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if err := <-forwarded; err == nil {
		t.Error("Forward says nothing of its connection's end")
	}
	if _, err := inside.Accept(); err == nil {
		t.Error("its listener is open")
	}
	if _, err := listener.Accept(); err != net.ErrClosed {
		t.Errorf("Accept: %v", err)
	}
}

func TestListenerWantsAGreeting(t *testing.T) {
	for _, said := range []string{"", "skills-mcp egress", "bash: no such file or dir\n"} {
		here, there := pipes()
		go func() {
			_, _ = io.WriteString(there, said)
			_ = there.Close()
		}()
		if _, err := Listener(here); err == nil {
			t.Errorf("%q is a forwarder", said)
		}
	}
}

// The forwarder's program greets, carries, and ends with its standard input.
func TestStdio(t *testing.T) {
	inside := listen(t)
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveStdio(context.Background(), inside, r1, w2) }()
	listener, err := Listener(&pipe{r2, w1, func() { _ = w1.Close(); _ = r2.Close() }})
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", inside.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := io.WriteString(client, "hello"); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	_ = listener.Close()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// A process of its own serves a proxy's clients, ends when its input does, and
// says why it cannot begin.
func TestProcess(t *testing.T) {
	taken := listen(t)
	defer taken.Close()
	var stderr strings.Builder
	failing := exec.Command(os.Args[0], Command, taken.Addr().String())
	failing.Stderr = &stderr
	if err := failing.Run(); err == nil || !strings.Contains(stderr.String(), "in use") {
		t.Errorf("at an address that is taken: %v, %s", err, &stderr)
	}

	free := listen(t)
	address := free.Addr().String()
	_ = free.Close()
	process := exec.Command(os.Args[0], Command, address)
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	listener, err := Listener(&pipe{stdout, stdin, func() { _ = stdin.Close(); _ = stdout.Close() }})
	if err != nil {
		t.Fatal(err)
	}
	w := api(t)
	p, err := New(sandbox.Grant{Hosts: []string{"api.example.com"}}, &Options{Resolver: w, Dial: w.dial})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(listener) }()
	through := &running{p, t, address}
	if status, body := through.get("http://api.example.com/"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if err := p.Close(); err != nil { // closes the listener, that the pipes
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := process.Wait(); err != nil {
		t.Errorf("the forwarder ended with %v", err)
	}
}

// hostile serves a proxy to a sandbox that speaks for itself, and returns its
// connection. The test ends with everything gone.
func hostile(t *testing.T) io.ReadWriteCloser {
	t.Helper()
	w := api(t)
	p, err := New(sandbox.Grant{Hosts: []string{"api.example.com"}}, &Options{Resolver: w, Dial: w.dial})
	if err != nil {
		t.Fatal(err)
	}
	here, there := pipes()
	greeted := make(chan struct{})
	go func() {
		defer close(greeted)
		_, _ = io.WriteString(there, greeting)
	}()
	listener, err := Listener(here)
	<-greeted
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(listener) }()
	t.Cleanup(func() {
		begin := time.Now()
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if took := time.Since(begin); took >= sendTimeout {
			t.Errorf("Close waited %v for a sandbox", took)
		}
	})
	return there
}

const (
	flagSYN = 1 << iota
	flagACK
	flagFIN
	flagRST
)

// frame is one as the library reads it.
func frame(kind byte, flags uint16, id, length uint32, data string) []byte {
	f := []byte{0, kind}
	f = binary.BigEndian.AppendUint16(f, flags)
	f = binary.BigEndian.AppendUint32(f, id)
	f = binary.BigEndian.AppendUint32(f, length)
	return append(f, data...)
}

// flood writes frames until it is stopped, or many are written. The other side
// may end the session, or not read on, which the pipe's end then ends.
func flood(conn io.Writer, count int, next func(i int) []byte) error {
	for i := range count {
		if _, err := conn.Write(next(i)); err != nil {
			return err
		}
	}
	return nil
}

// A sandbox that does not read, and sends what costs the most, is held to
// bounds of memory and goroutines.
func TestHostileSandbox(t *testing.T) {
	const count = 20_000
	block := strings.Repeat("x", 256<<10)
	for name, next := range map[string]func(i int) []byte{
		"pings":            func(i int) []byte { return frame(2, flagSYN, 0, uint32(i), "") },
		"go-aways":         func(int) []byte { return frame(3, 0, 0, 1, "") },
		"streams":          func(i int) []byte { return frame(frameWindow, flagSYN, uint32(2*i+1), 0, "") },
		"streams and ends": func(i int) []byte { return frame(frameWindow, flagSYN|flagFIN, uint32(2*i+1), 0, "") },
		"aborted streams":  func(i int) []byte { return frame(frameWindow, flagSYN|flagRST, uint32(2*i+1), 0, "") },
		"the same stream":  func(int) []byte { return frame(frameWindow, flagSYN, 1, 0, "") },
		"same and aborted": func(int) []byte { return frame(frameWindow, flagSYN|flagRST, 1, 0, "") },
		"full streams":     func(i int) []byte { return frame(frameData, flagSYN, uint32(2*i+1), uint32(len(block)), block) },
		"too much data":    func(int) []byte { return frame(frameData, flagSYN, 1, 1<<31, block) },
		"no stream":        func(i int) []byte { return frame(frameData, 0, uint32(i), 5, "hello") },
		"endless heads": func(i int) []byte {
			if i == 0 {
				return frame(frameData, flagSYN, 1, 5, "GET h")
			}
			return frame(frameData, 0, 1, 5, "ttttt")
		},
		"requests, unread": func(i int) []byte {
			request := "GET http://api.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"
			return frame(frameData, flagSYN, uint32(2*i+1), uint32(len(request)), request)
		},
		"huge windows":  func(int) []byte { return frame(frameWindow, flagSYN|flagACK, 1, 1<<32-1, "") },
		"a new version": func(int) []byte { return []byte("GET / HTTP/1.1\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			conn := hostile(t)
			goroutines := runtime.NumGoroutine()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			written := make(chan struct{})
			watch := make(chan int, 1)
			go func() {
				defer close(written)
				_ = flood(conn, count, next)
			}()
			go func() { watch <- mostGoroutines(written, 500*time.Millisecond) }()
			most := <-watch - goroutines
			runtime.GC()
			runtime.ReadMemStats(&after)
			_ = conn.Close()
			<-written
			if most > 4*maxStreams+2*maxPending {
				t.Errorf("%d goroutines", most)
			}
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 3*(maxStreams+maxPending)*256<<10/2 {
				t.Errorf("the heap has grown by %d MiB", grown>>20)
			}
		})
	}
}

// Streams that were closed here and are left open there count, until there are
// so many that the session is ended.
func TestHostileSandboxKeepsStreams(t *testing.T) {
	conn := hostile(t)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, conn)
	}()
	const request = "no request\r\n\r\n"
	err := flood(conn, 20_000, func(i int) []byte {
		return frame(frameData, flagSYN, uint32(2*i+1), uint32(len(request)), request)
	})
	if err == nil {
		t.Error("the session goes on")
	}
	_ = conn.Close()
	<-read
}

// mostGoroutines counts goroutines until done, or for a while.
func mostGoroutines(done <-chan struct{}, most time.Duration) int {
	end := time.NewTimer(most)
	defer end.Stop()
	highest := 0
	for {
		highest = max(highest, runtime.NumGoroutine())
		select {
		case <-done:
			return highest
		case <-end.C:
			return highest
		default:
			runtime.Gosched()
		}
	}
}

// Whatever frames come, nothing stays and nothing blocks.
func FuzzFrames(f *testing.F) {
	request := "CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"
	f.Add(frame(frameData, flagSYN, 1, uint32(len(request)), request))
	f.Add(append(frame(frameWindow, flagSYN, 1, 0, ""), frame(frameData, flagFIN, 1, 2, "\r\n")...))
	f.Add(append(frame(frameWindow, flagSYN, 3, 1<<31, ""), frame(frameWindow, flagRST, 3, 0, "")...))
	f.Add(frame(2, flagSYN, 0, 7, ""))
	f.Add([]byte("\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := hostile(t)
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, conn)
		}()
		_, _ = conn.Write(data)
		_ = conn.Close()
		<-read
	})
}

// The listener's connections are told apart from others by nothing: a whole
// session of ordinary requests passes the filter whatever the pieces in which
// it is read.
func TestFramesInPieces(t *testing.T) {
	var all []byte
	for i := range 100 {
		data := strings.Repeat("x", i)
		all = append(all, frame(frameData, flagSYN, uint32(i), uint32(i), data)...)
		all = append(all, frame(frameWindow, 0, uint32(i), 1<<32-1, "")...)
	}
	for size := 1; size < 40; size++ {
		f := &frameFilter{}
		for rest := all; len(rest) > 0; {
			n := min(size, len(rest))
			if err := f.scan(rest[:n]); err != nil {
				t.Fatalf("in pieces of %d: %v", size, err)
			}
			rest = rest[n:]
		}
		if err := f.scan(frame(2, 0, 0, 0, "")); err == nil {
			t.Errorf("in pieces of %d: a ping passes", size)
		}
	}
}

// A read that a deadline has ended leaves TLS over a forwarded connection whole.
func TestForwardedDeadlines(t *testing.T) {
	here, there := pipes()
	inside := listen(t)
	forwarded := make(chan error, 1)
	go func() { forwarded <- Forward(context.Background(), inside, there) }()
	outside, err := Listener(here)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := newAuthority([]string{"api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	sandbox, err := net.Dial("tcp", inside.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := tls.Client(sandbox, &tls.Config{InsecureSkipVerify: true})
	said := make(chan error, 1)
	go func() { said <- client.Handshake() }()
	conn, err := outside.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{authority}})
	if err := errors.Join(server.Handshake(), <-said); err != nil {
		t.Fatal(err)
	}
	_ = server.SetReadDeadline(time.Unix(1, 0))
	buf := make([]byte, 4)
	if _, err := server.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: %v", err)
	}
	_ = server.SetReadDeadline(time.Now().Add(5 * time.Minute))
	if _, err := io.WriteString(client, "more"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, buf); err != nil || string(buf) != "more" {
		t.Errorf("%q, %v", buf, err)
	}
	_ = client.Close()
	_ = outside.Close()
	<-forwarded
}
