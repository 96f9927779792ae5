// Package demoextension serves a small two-party call application for trying qos out:
// a page in plain HTML and JavaScript that includes the client library as any application
// would, and the signalling the two browsers need to find each other. It is how `make run`
// has something to show and what the end-to-end tests drive. It hands an application
// secret to everybody who opens the page, so it stays on loopback unless configured otherwise.
package demoextension

//go:generate mdatagen metadata.yaml
