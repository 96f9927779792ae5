// Beats for drawing. A worker's timers go on at full rate in a tab that is not in front,
// where those of the page are slowed down to one a second.
// The next beat waits until the page has drawn: on a slow machine beats would pile up in the page,
// which would do nothing else any more.
let drawn = true;

function beat() {
  if (drawn) {
    drawn = false;
    postMessage(null);
  }
}

self.onmessage = ({ data }) => {
  if (data === 'drawn') {
    drawn = true;
  } else {
    setInterval(beat, 1000 / data);
  }
};
