// Package client holds the built browser library, so that a Go build needs no npm.
package client

import "embed"

// Dist is the folder dist as `npm run build` leaves it: qos.min.js, qos.js, qos.mjs,
// qos-precall.mjs, qos-livekit.mjs, qos-janus.mjs, qos.d.ts, their source maps, and manifest.json with sizes and integrity hashes.
//
//go:embed dist
var Dist embed.FS
