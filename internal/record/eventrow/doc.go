// Package eventrow reads events from the records of the store.
package eventrow
