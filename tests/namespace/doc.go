// Package namespace starts processes in Linux namespaces of their own, with root or in a user namespace.
package namespace
