package api

import "net/http"

// Handler serves the API, whose paths begin with "/v1/".
func (s *Service) Handler() http.Handler { panic("TODO") }
