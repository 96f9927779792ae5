//go:build race

package storagetest

const scale = 10
