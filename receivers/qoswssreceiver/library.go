package qoswssreceiver

import "net/http"

// libraryFiles returns a handler for each file of the browser library.
func libraryFiles() map[string]http.Handler { return nil }
