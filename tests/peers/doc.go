// Package peers connects WebSocket implementations of others to the real binary: the npm package ws and Python's
// websockets. Chromium and Firefox are in tests/e2e, raw frames in receivers/qoswssreceiver.
package peers
