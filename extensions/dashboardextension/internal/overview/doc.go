// Package overview counts conferences by their digests: their number in a time, and their numbers by
// outcome, browser, site, version and so on. It is pure: digests in, counts out.
package overview
