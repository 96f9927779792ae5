// Package browser drives real Chromium and Firefox in tests: it starts them (Start), speaks WebDriver BiDi with them
// (BiDi), opens windows and evaluates JavaScript in them (Page), and starts other programs beside them (Process).
//
// Browsers run only in a network namespace that has nothing but loopback (Main): otherwise they offer the machine's
// real addresses to each other and send requests to their vendors.
package browser
