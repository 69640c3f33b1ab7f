package api

import _ "github.com/getkin/kin-openapi/openapi3"
