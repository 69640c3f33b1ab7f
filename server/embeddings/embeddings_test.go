package embeddings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A fake is an endpoint whose vectors count words: texts that share them are near.
type fake struct {
	*httptest.Server
	answer func(w http.ResponseWriter, inputs []string) // nil answers well

	mu     sync.Mutex // guards what follows
	inputs [][]string // of each request
	key    string     // of the last one
	path   string
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, inputs []string)) *fake {
	f := &fake{answer: answer}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body request
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	f.inputs, f.key, f.path = append(f.inputs, body.Input), r.Header.Get("Authorization"), r.URL.Path
	f.mu.Unlock()
	if f.answer != nil {
		f.answer(w, body.Input)
		return
	}
	writeVectors(w, body.Input)
}

// writeVectors answers in reverse order, as an endpoint may.
func writeVectors(w io.Writer, inputs []string) {
	var data []map[string]any
	for i, input := range inputs {
		vector := make([]float32, 64)
		for word := range strings.FieldsSeq(input) {
			sum := 0
			for _, c := range []byte(strings.Trim(word, ":")) {
				sum = sum*31 + int(c)
			}
			vector[uint(sum)%64]++
		}
		data = append([]map[string]any{{"index": i, "embedding": vector}}, data...)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func (f *fake) requests() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inputs
}

func open(t *testing.T, f *fake, dir string) *Reranker {
	r, err := New(Endpoint{URL: f.URL + "/v1", Model: "m", Key: "secret"}, &Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func hits(names ...string) []search.Hit {
	var all []search.Hit
	for _, name := range names {
		all = append(all, search.Hit{Skill: &skills.Skill{Name: name, Description: "about " + name}})
	}
	return all
}

func names(hits []search.Hit) string {
	var all []string
	for _, hit := range hits {
		all = append(all, hit.Skill.Name)
	}
	return strings.Join(all, " ")
}

// within is longer than any test takes.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestRerank: the hit that is nearest in meaning rises, and vectors are requested once, by
// texts that hold a skill's name and description.
func TestRerank(t *testing.T) {
	f, dir := newFake(t, nil), t.TempDir()
	r := open(t, f, dir)
	ranked, err := r.Rerank(within(t), []string{"fruit", "cherry about"}, hits("apple", "cherry", "banana"))
	if got := names(ranked); err != nil || got != "cherry apple banana" {
		t.Errorf("%s, %v", got, err)
	}
	want := [][]string{{"fruit", "cherry about"}, {"apple: about apple", "cherry: about cherry", "banana: about banana"}}
	if got := f.requests(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requests %q", got)
	}
	if f.key != "Bearer secret" || f.path != "/v1/embeddings" {
		t.Errorf("key %q, path %s", f.key, f.path)
	}
	if _, err := r.Rerank(within(t), []string{"cherry about", "fruit"}, hits("banana", "cherry", "apple")); err != nil || len(f.requests()) != 2 {
		t.Errorf("the vectors were requested again: %q, %v", f.requests(), err)
	}

	later := open(t, f, dir)
	if _, err := later.Rerank(within(t), []string{"about"}, hits("banana", "cherry", "apple")); err != nil {
		t.Error(err)
	}
	if got := f.requests()[2:]; fmt.Sprint(got) != "[[about]]" {
		t.Errorf("the next start requested %q", got)
	}
}

// TestBatches: no request has more texts than servers accept.
func TestBatches(t *testing.T) {
	f := newFake(t, nil)
	var many []string
	for i := range 70 {
		many = append(many, fmt.Sprint("skill", i))
	}
	if _, err := open(t, f, "").Rerank(within(t), []string{"wish"}, hits(many...)); err != nil {
		t.Fatal(err)
	}
	for _, inputs := range f.requests() {
		if len(inputs) > maxBatch {
			t.Errorf("a request of %d texts", len(inputs))
		}
	}
}

// TestSlow: a search does not wait for longer than its context, and the next one finds
// the vectors.
func TestSlow(t *testing.T) {
	answered := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, inputs []string) {
		<-answered
		writeVectors(w, inputs)
	})
	r := open(t, f, "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Rerank(ctx, []string{"wish"}, hits("a", "b")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for range 3 {
		if _, err := r.Rerank(ctx, []string{"other"}, hits("a", "b")); err == nil {
			t.Error("a search waited")
		}
	}
	close(answered)
	r.running.Wait()
	if _, err := r.Rerank(within(t), []string{"wish"}, hits("a", "b")); err != nil {
		t.Error(err)
	}
}

// TestFailures: each wrong answer is an error, and pauses the requests.
func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter, inputs []string)
		want   string
	}{
		"status": {func(w http.ResponseWriter, _ []string) { w.WriteHeader(500) }, "500 Internal Server Error"},
		"message": {func(w http.ResponseWriter, _ []string) {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"error":{"message":"wrong key secret"}}`)
		}, "401 Unauthorized: wrong key …"},
		"redirect": {func(w http.ResponseWriter, _ []string) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(307)
		}, "307"},
		"no JSON":  {func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, "<html>") }, "is not JSON"},
		"too few":  {func(w http.ResponseWriter, _ []string) { writeVectors(w, nil) }, "0 vectors for"},
		"index":    {func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, `{"data":[{"index":7,"embedding":[1]}]}`) }, "wrong index"},
		"negative": {func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, `{"data":[{"index":-1,"embedding":[1]}]}`) }, "wrong index"},
		"empty":    {func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, `{"data":[{"embedding":[]}]}`) }, "empty vector"},
		"zero":     {func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, `{"data":[{"embedding":[0,0]}]}`) }, "empty vector"},
		"long": {func(w http.ResponseWriter, _ []string) {
			fmt.Fprintf(w, `{"data":[{"embedding":[1%s]}]}`, strings.Repeat(",1", maxDimensions))
		}, "a vector of 8193 numbers"},
		"huge": {func(w http.ResponseWriter, _ []string) { fmt.Fprint(w, strings.Repeat(" ", maxResponse+10)) }, "larger than"},
		"dimensions": {func(w http.ResponseWriter, inputs []string) {
			if len(inputs) > 1 {
				fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`)
				return
			}
			fmt.Fprint(w, `{"data":[{"embedding":[1]}]}`)
		}, "different lengths"},
	} {
		f := newFake(t, test.answer)
		r := open(t, f, t.TempDir())
		if _, err := r.Rerank(within(t), []string{"wish"}, hits("a", "b")); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		before := len(f.requests())
		if _, err := r.Rerank(within(t), []string{"wish"}, hits("a", "b")); err == nil || len(f.requests()) > before {
			t.Errorf("%s: the endpoint was called again, %v", name, err)
		}
	}
}

// TestOtherDimensions: vectors in the cache that are of another length than those of now
// are requested anew.
func TestOtherDimensions(t *testing.T) {
	dimensions := 2
	f := newFake(t, func(w http.ResponseWriter, inputs []string) {
		var data []map[string]any
		for range inputs {
			data = append(data, map[string]any{"embedding": make([]float32, dimensions-1)})
		}
		for _, item := range data {
			item["embedding"] = append(item["embedding"].([]float32), 1)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	})
	r := open(t, f, t.TempDir())
	if _, err := r.Rerank(within(t), []string{"wish"}, hits("a", "b")); err != nil {
		t.Fatal(err)
	}
	dimensions = 3
	if _, err := r.Rerank(within(t), []string{"another wish"}, hits("a", "b")); !errors.Is(err, errDimensions) {
		t.Error(err)
	}
	if _, err := r.Rerank(within(t), []string{"another wish"}, hits("a", "b")); err != nil {
		t.Error(err)
	}
}

// TestPause: requests are made again after the time that the endpoint asks for, or after
// one that doubles.
func TestPause(t *testing.T) {
	now := time.Unix(0, 0)
	h := &health{logger: slog.New(slog.DiscardHandler), now: func() time.Time { return now }}
	h.report(&statusError{status: 429, retryAfter: time.Minute})
	now = now.Add(59 * time.Second)
	if h.check() == nil {
		t.Error("a request before Retry-After is over")
	}
	now = now.Add(time.Second)
	if err := h.check(); err != nil {
		t.Error(err)
	}
	h.report(errors.New("again"))
	now = now.Add(2*leastPause - 1)
	if h.check() == nil {
		t.Error("the pause does not grow")
	}
	for range 20 {
		h.report(&statusError{status: 429, retryAfter: 100 * time.Hour})
	}
	now = now.Add(mostPause)
	if err := h.check(); err != nil {
		t.Error("the pause has no bound")
	}
	h.report(nil)
	h.report(errors.New("first"))
	now = now.Add(leastPause)
	if err := h.check(); err != nil {
		t.Error("a success does not end the growth")
	}
}

// TestClose ends requests that are under way.
func TestClose(t *testing.T) {
	called, done := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(http.ResponseWriter, []string) {
		called <- struct{}{}
		<-done
	})
	defer close(done)
	r := open(t, f, "")
	failed := make(chan error)
	go func() {
		_, err := r.Rerank(context.Background(), []string{"wish"}, hits("a", "b"))
		failed <- err
	}()
	<-called
	go r.Close()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	r.Close()
	if _, err := r.Rerank(context.Background(), []string{"other"}, hits("a", "b")); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	r := open(t, newFake(t, nil), t.TempDir())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				_, _ = r.Rerank(within(t), []string{fmt.Sprint("wish", j%5)}, hits("a", fmt.Sprint("b", i), "c"))
			}
		})
	}
	all.Wait()
}

// TestDialer: an answer of DNS does not lead into a private network.
func TestDialer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for host, ok := range map[string]bool{"127.0.0.1": true, "localhost": true, "api.example.com": false} {
		conn, err := dialer(host)(within(t), "tcp", listener.Addr().String())
		if (err == nil) != ok {
			t.Errorf("%s: %v", host, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

// TestValidate names the remedy for each wrong endpoint.
func TestValidate(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.example.com/v1":      "",
		"http://localhost:11434/v1":       "",
		"http://10.0.0.5:8080/embeddings": "",
		"http://[::1]/v1":                 "",
		"http://api.example.com/v1":       "write https",
		"http://8.8.8.8/v1":               "write https",
		"https://u:p@api.example.com":     "has a password",
		"api.example.com":                 "write one such as",
		"file:///etc/passwd":              "write one such as",
		"":                                "write one such as",
	} {
		err := Endpoint{URL: url, Model: "m"}.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := (Endpoint{URL: "https://api.example.com"}).Validate(); err == nil {
		t.Error("a model is not needed")
	}
}

// FuzzOrdered: no response makes a vector that is not of length 1.
func FuzzOrdered(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]},{"embedding":[1e38,1e38]}]}`), 2)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		var r response
		if json.Unmarshal(body, &r) != nil || n < 0 || n > 64 {
			return
		}
		vectors, err := r.ordered(n)
		if err != nil {
			return
		}
		for _, vector := range vectors {
			if decode(encode(vector)) == nil {
				t.Errorf("%v", vector)
			}
		}
	})
}
