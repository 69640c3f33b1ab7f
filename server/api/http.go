package api

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// For pages of other origins (CORS), beside those of MCP: the methods and headers of
// requests, and the headers of answers that clients read.
const (
	Methods = "PUT"
	Headers = "Prefer"
	Exposed = "Allow, Location, Preference-Applied, Retry-After"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// Handler serves the API, whose paths begin with [Path]. It is made by the first request.
func (s *Service) Handler() http.Handler {
	made := sync.OnceValue(func() http.Handler { return newHandler(s) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}

// A handler routes requests to the operations.
type handler struct {
	service  *Service
	mux      *http.ServeMux
	forgery  *http.CrossOriginProtection
	paths    map[string]map[string]*endpoint // by path and method
	document func() ([]byte, error)
}

// An endpoint is an operation with the schema of its arguments.
type endpoint struct {
	operation
	arguments *arguments // nil takes none
}

func newHandler(s *Service) *handler {
	all := operations()
	h := &handler{
		service: s, mux: http.NewServeMux(), forgery: http.NewCrossOriginProtection(), paths: map[string]map[string]*endpoint{},
		document: sync.OnceValues(func() ([]byte, error) { return newDocument(all) }),
	}
	for _, o := range all {
		e := &endpoint{operation: o}
		if args := o.arguments(); args != nil {
			e.arguments = newArguments(args)
		}
		if h.paths[o.path] == nil {
			h.paths[o.path] = map[string]*endpoint{}
			h.mux.HandleFunc(Path+o.path, h.route(o.path))
		}
		h.paths[o.path][o.method] = e
	}
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, refuse(http.StatusNotFound, "there is no %s; GET %sopenapi.json lists the paths", r.URL.Path, Path))
	})
	return h
}

// ServeHTTP refuses requests that a page of another site sends with a session's cookie.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Cookie") != "" {
		if err := h.forgery.Check(r); err != nil {
			h.refuse(w, &statusError{http.StatusForbidden, &run.Error{Code: run.PermissionDenied, Message: err.Error()}})
			return
		}
	}
	h.mux.ServeHTTP(w, r)
}

// refuse answers a request that is wrong as HTTP.
func (h *handler) refuse(w http.ResponseWriter, err error) {
	problem(err, h.service.options.Page).write(w)
}

// route returns the handler of a path.
func (h *handler) route(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		e := h.paths[path][method]
		if e == nil {
			allowed := strings.Join(slices.Sorted(maps.Keys(h.paths[path])), ", ")
			w.Header().Set("Allow", allowed)
			h.refuse(w, refuse(http.StatusMethodNotAllowed, "%s is not for %s, but %s", r.Method, r.URL.Path, allowed))
			return
		}
		x := &exchange{operation: &e.operation, request: r, service: h.service, document: h.document, w: w}
		if err := answer(x, e.arguments); err != nil {
			h.fail(x, err)
		}
	}
}

// fail answers with an error, unless the answer has begun or nobody reads it.
func (h *handler) fail(x *exchange, err error) {
	if x.begun || x.request.Context().Err() != nil {
		return
	}
	p := problem(err, h.service.options.Page)
	if failed, ok := errors.AsType[*runError](err); ok {
		p.Run = failed.run
	}
	if x.id == executeID {
		p.Error = &describe.Refusal{Code: string(p.Code), Message: p.Detail}
	}
	x.extend()
	p.write(x.w)
}

// answer serves a request.
func answer(x *exchange, takes *arguments) error {
	if err := check(x, takes); err != nil {
		return err
	}
	value, err := x.serve(x)
	if err != nil || x.begun {
		return err
	}
	if value == nil {
		protect(x.w.Header())
		x.w.WriteHeader(x.status)
		return nil
	}
	return x.write(value)
}

// check reads the arguments of a request, after it has checked that its principal may
// send it.
func check(x *exchange, takes *arguments) (err error) {
	if err := permitted(x); err != nil {
		return err
	}
	var given map[string]any
	switch {
	case x.body == nil:
		given, err = takes.parse(x.request.URL.RawQuery)
	case x.request.URL.RawQuery != "":
		return refuse(http.StatusBadRequest, "%s %s takes a body, and no query", x.method, x.request.URL.Path)
	default:
		given, err = readBody(x.w, x.request)
	}
	if err == nil && takes != nil {
		x.args, err = takes.check(given)
	}
	return err
}

// permitted returns an error if the principal of a request may not send it.
func permitted(x *exchange) error {
	if x.who == everyone {
		if lacks := identity.Lacks(x.request.Context(), cmp.Or(x.scope, identity.ScopeRead)); lacks != nil {
			x.w.Header().Set("WWW-Authenticate", lacks.Authenticate)
			return &statusError{lacks.Status, &run.Error{Code: run.PermissionDenied, Message: lacks.Message}}
		}
	}
	switch {
	case x.who == everyone || x.who == andScripts && x.request.Header.Get(tokenHeader) != "":
		return nil
	case x.who == persons:
		return onlyPersons(x.request.Context())
	case x.who == overseers:
		return onlyOverseers(x.request.Context())
	}
	return onlyAnswering(x.request.Context())
}

// readBody returns the JSON object of a request.
func readBody(w http.ResponseWriter, r *http.Request) (map[string]any, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != jsonMedia || r.Header.Get("Content-Encoding") != "" {
		return nil, refuse(http.StatusUnsupportedMediaType, "the body must be %s, not compressed", jsonMedia)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the body cannot be read: %v", err)
	}
	return object(body)
}
