// Package access decides who may read and change what: users, passwords, logins, roles and the
// needs of every route. It does no I/O, and time is an argument.
package access
