// Package agent holds the token agent and the collector's door to each other: what the one
// makes, the other takes; what qos-agent verify says of a token is what the collector does.
// The two know nothing of each other, so it is tested here.
package agent
