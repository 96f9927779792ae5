// Package readapi is the read API of the dashboard: routes that answer with conferences, their measurements and what
// many of them have in common, as JSON, as exports, as live changes and as tools for language models (MCP).
//
// Each answer has what its visitor may see: conferences of the apps in scope, and real names of users only for those
// who may read them. The package reads the store and never writes to it. The audit log of the access extension gets
// an entry for what a visitor reads.
package readapi
