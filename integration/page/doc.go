// Package page tests the page in a browser, and REST.
package page
