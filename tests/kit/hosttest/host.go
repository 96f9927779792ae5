// Package hosttest gives tests a host and a storage extension that it may have.
package hosttest

import (
	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/storage"
)

// Host has the extensions of the map.
type Host map[component.ID]component.Component

// GetExtensions implements component.Host.
func (h Host) GetExtensions() map[component.ID]component.Component { return h }

// Store is what an engine implements.
type Store interface {
	storage.Reader
	storage.Writer
	storage.Follower
}

// Storage is a storage extension whose store no other process writes to.
type Storage struct {
	component.StartFunc
	component.ShutdownFunc
	Store Store
}

// Reader returns the store.
func (s Storage) Reader() storage.Reader { return s.Store }

// Writer returns the store.
func (s Storage) Writer() storage.Writer { return s.Store }

// Follower returns the store.
func (s Storage) Follower() storage.Follower { return s.Store }

// Shared reports that no other process writes to the store.
func (Storage) Shared() bool { return false }
