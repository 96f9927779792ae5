// Package proxies runs the real binary behind the real nginx and haproxy, with the configurations that ship
// (deploy/proxy).
package proxies
