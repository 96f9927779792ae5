// Package overview counts conferences by their digests: how many there were in a time, how they ended, and
// which browsers, sites and versions took part. It is pure: digests in, counts out.
package overview
