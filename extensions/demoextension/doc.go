// Package demoextension serves a small two-party call application for trying qos: a page in plain
// HTML and JavaScript that includes the client library like any application, and the signalling
// between the two browsers. `make run` and the end-to-end tests use it. It serves an application
// secret to every client of the page, so by default it listens on loopback only.
package demoextension

//go:generate mdatagen metadata.yaml
