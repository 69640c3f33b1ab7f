// Package secrets tests that programs use secrets which they do not have.
package secrets
