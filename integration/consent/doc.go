// Package consent tests who is asked about a call, what they see, and what a yes covers.
package consent
