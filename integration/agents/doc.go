// Package agents tests sessions of agents in the built binary, with clients over both
// transports and a model that is a function of the test.
package agents
