// Package measure holds what a new measure takes: a row of the protocol's table, and no more
// for the page to have it.
package measure
