// The page of the demo: fields, buttons and what they do. Query parameters fill it in and
// drive it (see the README); window.demo is for tests.

import { Call } from './call.js';
import { openMedia } from './media.js';
import { createMonitor } from './monitor.js';
import { $, badge, note, notice, showStats, toggle } from './view.js';

const query = new URLSearchParams(location.search);
const names = ['Ada', 'Grace', 'Hedy', 'Alan', 'Claude', 'Katherine', 'Tim', 'Radia'];

const camera = { height: Number(query.get('height')) || 480, fps: Number(query.get('fps')) || 30 };

/** What tests read. */
const state = {
  joined: false,
  role: '',
  remoteUser: '',
  connectionState: 'new',
  init: [], // [csError, csErrMsg] in the order they came
  calls: [], // [operation, status, msg] in the order they were made
  feedback: [], // [err, msg]
  stats: null,
  statsCount: 0,
  muted: false,
  paused: false,
  ended: '',
};

let config;
let monitor;
let media;
let call;

fillIn();
listen();
const ready = start();

window.demo = {
  state,
  ready,
  join,
  hangUp: () => call?.hangUp(),
  mute: setMuted,
  pause: setPaused,
  reportError,
  feedback: sendFeedback,
  event: (name, data) => call?.event(name, data),
  get pc() {
    return call?.pc ?? null;
  },
};

function fillIn() {
  $('room').value = query.get('room') ?? `room-${Math.random().toString(36).slice(2, 7)}`;
  $('user').value = query.get('user') ?? names[Math.floor(Math.random() * names.length)];
  $('synthetic').checked = query.get('synthetic') !== '0';
  $('remote').volume = 0.3; // two tabs on one desk hum enough
  setSound(true);
}

function listen() {
  $('join-form').onsubmit = (event) => {
    event.preventDefault();
    join();
  };
  $('second').onclick = openSecond;
  $('mute').onclick = () => setMuted(!state.muted);
  $('pause').onclick = () => setPaused(!state.paused);
  $('sound').onclick = () => setSound($('remote').muted);
  $('error').onclick = () => reportError('signalingError', 'reported by hand from the demo page');
  $('hangup').onclick = () => call?.hangUp();
  $('feedback-form').onsubmit = (event) => {
    event.preventDefault();
    const fields = new FormData(event.target);
    sendFeedback({ overall: Number(fields.get('overall')), comment: fields.get('comment') });
  };
}

async function start() {
  const answer = await fetch('config.json');
  if (!answer.ok) {
    throw new Error(`the page's configuration could not be read: ${answer.status}`);
  }
  config = await answer.json();
  if (query.get('auto') === '1') {
    await join();
  }
}

async function join() {
  if (call) {
    return;
  }
  const room = $('room').value;
  const user = $('user').value;
  notice('');
  state.ended = '';
  monitor ??= createMonitor(config, { onInit, onStats, onCall });
  monitor.identify(user);
  try {
    media = await openMedia($('synthetic').checked, user, camera);
  } catch (error) {
    monitor.call('reportError', null, room, 'getUserMedia', error);
    notice(`No camera or microphone: ${error.message}. The synthetic ones need none.`);
    return;
  }
  $('local').srcObject = media.stream;
  $('local-name').textContent = `${user} (you)`;
  call = new Call({ room, user, stream: media.stream, monitor, rtc: rtcConfiguration(), codec: query.get('codec') });
  call.addEventListener('state', showCall);
  call.addEventListener('remote', ({ detail }) => showRemote(detail));
  call.addEventListener('ended', ({ detail }) => onEnded(detail));
  call.connect();
  state.joined = true;
  note(`joined ${room} as ${user}`);
  showCall();
}

function rtcConfiguration() {
  const turn = query.get('turn');
  return {
    iceServers: turn ? [{ urls: turn, username: query.get('turnUser') ?? '', credential: query.get('turnPass') ?? '' }] : [],
    iceTransportPolicy: query.get('relay') === '1' ? 'relay' : 'all',
  };
}

function onInit(csError, csErrMsg) {
  state.init.push([csError, csErrMsg]);
  badge('init', csError === 'success' ? 'back-end: success' : `back-end: ${csError}`, csError === 'success' ? 'good' : 'bad');
  note(`csInitCallback: ${csError}${csErrMsg ? ` – ${csErrMsg}` : ''}`);
}

function onStats(stats) {
  state.stats = stats;
  state.statsCount++;
  showStats(stats);
}

function onCall(operation, answer) {
  state.calls.push([operation, answer?.status, answer?.msg]);
  note(`${operation}: ${answer?.status}${answer?.msg ? ` – ${answer.msg}` : ''}`);
}

function showCall() {
  const pc = call?.pc ?? null;
  state.role = call?.role ?? '';
  state.remoteUser = call?.remoteUser ?? '';
  state.connectionState = pc?.connectionState ?? (call ? 'waiting' : 'new');
  const texts = { new: 'no call', waiting: 'waiting for the other one' };
  const tones = { connected: 'good', failed: 'bad', disconnected: 'bad' };
  badge('call', texts[state.connectionState] ?? state.connectionState, tones[state.connectionState]);
  $('remote-name').textContent = state.remoteUser || 'nobody yet';
  for (const id of ['mute', 'pause', 'error']) {
    $(id).disabled = !pc;
  }
  $('hangup').disabled = !call;
  $('join').disabled = Boolean(call);
  $('lobby').classList.toggle('joined', Boolean(call));
  $('lobby-title').textContent = call ? `Room ${$('room').value}` : 'Start a call';
  $('feedback-form').firstElementChild.disabled = !monitor;
}

// Called for each track: a stream that is set again would start anew.
async function showRemote(stream) {
  const video = $('remote');
  if (video.srcObject === stream) {
    return;
  }
  video.srcObject = stream;
  try {
    await video.play();
  } catch (error) {
    if (error.name === 'NotAllowedError') {
      setSound(false); // a page that nobody has touched may only play without sound
    }
  }
}

function onEnded(why) {
  media.stop();
  $('local').srcObject = null;
  call = undefined;
  Object.assign(state, { joined: false, ended: why });
  setMuted(false);
  setPaused(false);
  note(why);
  notice(why === 'you hung up' ? '' : why);
  showCall();
}

function setMuted(on) {
  switchTracks('audio', on, 'muted', on ? 'audioMute' : 'audioUnmute');
  toggle('mute', on);
}

function setPaused(on) {
  switchTracks('video', on, 'paused', on ? 'videoPause' : 'videoResume');
  toggle('pause', on);
}

function switchTracks(kind, off, flag, event) {
  const changed = state[flag] !== off;
  state[flag] = off;
  for (const track of media?.stream.getTracks() ?? []) {
    track.enabled = track.kind === kind ? !off : track.enabled;
  }
  if (changed && call?.pc) {
    call.event(event);
  }
}

function setSound(on) {
  $('remote').muted = !on;
  toggle('sound', on);
}

function reportError(name, message) {
  return call?.reportError(name, new Error(message));
}

function sendFeedback(feedback) {
  return new Promise((resolve) => {
    const done = (err, msg) => {
      state.feedback.push([err, msg]);
      note(`feedback: ${err}`);
      resolve([err, msg]);
    };
    const answer = monitor.call('sendUserFeedback', $('room').value, { userID: $('user').value, ...feedback }, done);
    if (answer.status !== 'success') {
      resolve([answer.status, answer.msg]);
    }
  });
}

function openSecond() {
  const next = new URLSearchParams(query);
  next.set('room', $('room').value);
  next.set('user', $('user').value === 'Grace' ? 'Ada' : 'Grace');
  next.set('synthetic', $('synthetic').checked ? '1' : '0');
  next.set('auto', '1');
  open(`?${next}`, '_blank', 'noopener');
}
