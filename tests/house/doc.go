// Package house holds the rules of this repository as tests: which way imports point,
// that every package says what it is, that generated files match their sources.
package house
