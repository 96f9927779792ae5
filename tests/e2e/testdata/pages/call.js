// What every page here does with the library, however it came by it: log in, a call of one
// end, a mute, a feedback, goodbye. outcome tells the test how it went.

const outcome = { page: document.title, answers: {}, init: [], fabric: [], feedback: [], errors: [], version: '', done: false };

addEventListener('error', (event) => outcome.errors.push(String(event.message || event.type)));
addEventListener('unhandledrejection', (event) => outcome.errors.push(`rejected: ${event.reason}`));

async function makeCall(library, config) {
  const user = `ada on ${document.title}`;
  const room = `room of ${document.title}`;
  const heard = (list, then) => (err, msg) => {
    list.push(err);
    then(`${err} ${msg}`);
  };
  const { answers } = outcome;
  outcome.version = library.version;
  const welcome = new Promise((then) => {
    answers.initialize = library.initialize('demo', 'demo-secret', user, heard(outcome.init, then), null, config);
  });
  const pc = new RTCPeerConnection();
  const added = new Promise((then) => {
    answers.addNewFabric = library.addNewFabric(pc, 'grace', library.fabricUsage.multiplex, room, heard(outcome.fabric, then));
  });
  answers.sendFabricEvent = library.sendFabricEvent(pc, library.fabricEvent.audioMute, room);
  await Promise.all([welcome, added]);
  const said = new Promise((then) => {
    answers.sendUserFeedback = library.sendUserFeedback(room, { userID: user, overall: 5 }, heard(outcome.feedback, then));
  });
  answers.fabricTerminated = library.sendFabricEvent(pc, library.fabricEvent.fabricTerminated, room);
  pc.close();
  await said;
  outcome.done = true;
}

function start(library, config) {
  makeCall(library, config).catch((error) => {
    outcome.errors.push(String(error));
    outcome.done = true;
  });
}

/** For modules, which do not see the names of a script. */
window.application = () => ({ outcome, start, backendUrl: new URLSearchParams(location.search).get('backend') });
window.outcome = outcome;
