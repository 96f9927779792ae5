// Beats for drawing. A worker's timers go on at full rate in a tab that is not in front,
// where those of the page are slowed down to one a second.
self.onmessage = ({ data: perSecond }) => setInterval(() => postMessage(null), 1000 / perSecond);
