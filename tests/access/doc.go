// Package access proves who may speak, with the real binary: master keys roll under tokens
// and sessions that go on, applications and revocations of the management API reach every
// collector that shares the store, and open connections end.
package access
