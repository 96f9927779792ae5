// Package e2e walks the whole road: the real collector binary, real headless browsers
// that call each other through the demo application inside a network namespace that has
// nothing but loopback, and then the store, the metrics and the dashboard, read as a
// person would.
//
// TestDelivery, TestDeliveryOfKilled and TestDeliveryToTwo are about what browsers, networks and collectors suffer in
// mid-call. Each of their pages is in a call with itself, behind a front of its own that breaks the network and
// writes down what went over the wire. Beside that is the page's own account; the store must agree with both.
//
// TestAuth is a site whose users log in: the origin server, the token agent and a collector
// behind an nginx that ends TLS, and pages that keep an account of all that the library does.
//
// TestLibraryInCalls, TestLibraryAndUsers and TestLibraryAndTime put the library through what happens to calls: relays over
// UDP, TCP and TLS, paths that are lost, set-ups that fail, late logins; TestAsleep and TestLinkDown through sleep and a link
// that goes down.
//
// Each test is a process in `make test`. What is the same in both browsers runs in Chromium there, and in Firefox in
// `make test-long` (browserKinds).
//
// The tests need root (or user namespaces), Chromium with chromedriver, Firefox, and for
// TestAuth nginx and certutil, for the tests of the library certutil and ip. They are skipped with a reason where something is missing,
// unless QOS_REQUIRE=1. They build the collector and the agent once; QOS_COLLECTOR and
// QOS_AGENT name binaries to use instead. QOS_ARTIFACTS names a directory that keeps
// screenshots and logs of what failed. Run them with -count=1: the test cache does not know
// what the binaries were built from.
package e2e
