// The budgets of the library, as served: gzip -9 of qos.min.js, of the module of pre-call tests,
// which is loaded when a test runs, and of the modules for SDKs. Raise one only in the change that needs it, and say there what the
// bytes buy.

import { readFileSync } from 'node:fs';

const budgets = {
  'qos.min.js': 21_500, // 18,500 without pre-call tests; 310 to recognise screens, ended tracks and failed TURN servers; 400 to merge unsent measurements; 20 for media that getUserMedia takes; 490 for counters that cannot be true and Safari's relays; 280 to name and pause the streams of a track, which took 370 bytes in each module for an SDK; 670 for pauses and limits that the page's objects show; 240 for counters that fall alone or are back, and clocks of reports in other units; 190 for audio that the page does not play
  'qos-precall.mjs': 8_000,
  'qos-livekit.mjs': 2_048,
  'qos-janus.mjs': 2_048,
};

const { files } = JSON.parse(readFileSync(new URL('dist/manifest.json', import.meta.url), 'utf8'));
for (const [name, budget] of Object.entries(budgets)) {
  const { gzipBytes } = files[name];
  console.log(`${name}: ${gzipBytes} of ${budget} bytes (gzip -9)`);
  if (gzipBytes > budget) process.exitCode = 1;
}
