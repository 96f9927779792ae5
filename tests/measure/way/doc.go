// Package way sends one measure from a frame to the page's answer.
package way
