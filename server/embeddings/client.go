package embeddings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	// maxFetches bounds the requests at a time.
	maxFetches  = 2
	maxResponse = 8 << 20 // bytes: a vector of 1,536 numbers has about 32 KB
	maxMessage  = 200     // characters of an error that the endpoint returned
)

// A client calls an endpoint.
type client struct {
	url, model, key string
	http            *http.Client
}

func newClient(e Endpoint) (*client, error) {
	base, err := e.parse()
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(strings.TrimSuffix(base.Path, "/"), "/embeddings") {
		base = base.JoinPath("embeddings")
	}
	transport := &http.Transport{
		DialContext: dialer(base.Hostname()), ForceAttemptHTTP2: true, MaxIdleConnsPerHost: maxFetches,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	return &client{url: base.String(), model: e.Model, key: e.Key, http: &http.Client{
		Transport: transport,
		// A redirect would carry texts to a host that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// A request is the body of a call.
type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
}

// A response is the body of a successful call.
type response struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// vectors returns the vector of each text, of length 1.
func (c *client) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{c.model, texts, "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, c.statusError(resp, data)
	case len(data) > maxResponse:
		return nil, fmt.Errorf("the response is larger than %d bytes", maxResponse)
	}
	var answer response
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("the response is not JSON of embeddings: %w", err)
	}
	return answer.ordered(len(texts))
}

// ordered returns the vectors of a response in the order of its request.
func (r *response) ordered(n int) ([][]float32, error) {
	if len(r.Data) != n {
		return nil, fmt.Errorf("the response has %d vectors for %d texts", len(r.Data), n)
	}
	vectors := make([][]float32, n)
	for i, item := range r.Data {
		if item.Index != nil {
			i = *item.Index
		}
		switch {
		case i < 0 || i >= n || vectors[i] != nil:
			return nil, errors.New("the response has a wrong index")
		case len(item.Embedding) > maxDimensions:
			return nil, fmt.Errorf("the response has a vector of %d numbers", len(item.Embedding))
		case len(item.Embedding) != len(r.Data[0].Embedding):
			return nil, errDimensions
		case !normalize(item.Embedding):
			return nil, errors.New("the response has an empty vector")
		}
		vectors[i] = item.Embedding
	}
	return vectors, nil
}

// A statusError is a response that is no success.
type statusError struct {
	status     int
	message    string
	retryAfter time.Duration // 0 where the endpoint does not say
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the endpoint answered %d %s%s", e.status, http.StatusText(e.status), e.message)
}

func (c *client) statusError(resp *http.Response, body []byte) error {
	e := &statusError{status: resp.StatusCode}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.retryAfter = time.Duration(min(seconds, math.MaxInt32)) * time.Second
	}
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) == nil && answer.Error.Message != "" {
		message := answer.Error.Message
		if c.key != "" {
			message = strings.ReplaceAll(message, c.key, "…")
		}
		e.message = ": " + truncate.String(message, maxMessage)
	}
	return e
}
