// Where picture and sound come from: real devices, or a drawn clock and a soft tone that
// need neither devices nor a permission.

/** Returns {stream, stop()}. camera: height of the picture, fps of the synthetic one. */
export async function openMedia(synthetic, name, camera) {
  if (synthetic) {
    return syntheticMedia(name, camera);
  }
  const height = camera.height;
  const width = (height * 4) / 3;
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width, height } });
  return { stream, stop: () => stopTracks(stream) };
}

function syntheticMedia(name, camera) {
  const picture = drawnPicture(name, camera);
  const sound = madeSound();
  const stream = new MediaStream([...picture.stream.getTracks(), ...sound.stream.getTracks()]);
  return {
    stream,
    stop() {
      picture.stop();
      sound.stop();
      stopTracks(stream);
    },
  };
}

function stopTracks(stream) {
  for (const track of stream.getTracks()) {
    track.stop();
  }
}

// What draw() draws on, whatever the size of the picture.
const width = 640;
const height = 480;

function drawnPicture(name, camera) {
  const canvas = document.createElement('canvas');
  const scale = camera.height / height;
  canvas.width = width * scale;
  canvas.height = camera.height;
  const paint = canvas.getContext('2d', { alpha: false });
  paint.scale(scale, scale);
  const hue = [...name].reduce((sum, c) => sum + c.codePointAt(0) * 37, 0) % 360;
  const ticker = new Worker('ticker.js');
  ticker.onmessage = () => {
    draw(paint, name, hue, performance.now() / 1000);
    ticker.postMessage('drawn');
  };
  ticker.postMessage(camera.fps);
  draw(paint, name, hue, 0);
  return { stream: canvas.captureStream(), stop: () => ticker.terminate() };
}

function draw(paint, name, hue, seconds) {
  paint.fillStyle = `hsl(${hue} 45% 22%)`;
  paint.fillRect(0, 0, width, height);
  // Moving discs: a codec has something to do, and a freeze is seen at once.
  for (let i = 0; i < 5; i++) {
    const angle = seconds * (0.4 + i * 0.17) + i * 1.3;
    paint.fillStyle = `hsl(${(hue + i * 24) % 360} 60% ${36 + i * 6}%)`;
    paint.beginPath();
    paint.arc(width / 2 + Math.cos(angle) * 220, height / 2 + Math.sin(angle * 1.3) * 150, 34 + i * 7, 0, 2 * Math.PI);
    paint.fill();
  }
  paint.fillStyle = '#fff';
  paint.textAlign = 'center';
  paint.font = '600 72px system-ui, sans-serif';
  paint.fillText(new Date().toLocaleTimeString(), width / 2, height / 2 + 10, width - 60);
  paint.font = '32px system-ui, sans-serif';
  paint.fillText(name, width / 2, height / 2 + 66, width - 60);
}

function madeSound() {
  const context = new AudioContext();
  const out = context.createMediaStreamDestination();
  const volume = context.createGain();
  volume.gain.value = 0.12;
  // A tone that swells and fades a few times a second has a level like speech.
  const swell = context.createOscillator();
  swell.frequency.value = 2.5;
  const depth = context.createGain();
  depth.gain.value = 0.1;
  const tone = context.createOscillator();
  tone.frequency.value = 220;
  swell.connect(depth).connect(volume.gain);
  tone.connect(volume).connect(out);
  swell.start();
  tone.start();
  resumeOnGesture(context);
  return { stream: out.stream, stop: () => context.close() };
}

// A page that was opened by script may not make a sound before somebody touches it.
function resumeOnGesture(context) {
  context.resume().catch(() => {});
  const resume = () => context.state === 'suspended' && context.resume().catch(() => {});
  for (const gesture of ['pointerdown', 'keydown']) {
    addEventListener(gesture, resume, { once: true });
  }
}
