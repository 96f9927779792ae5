// A participant of a room of Janus's VideoRoom: one connection to send, and one for each sender.

const videoRoom = 'janus.plugin.videoroom';

/** Joins, attaches the library to each handle, publishes, and shows what others publish. */
async function joinJanus({ url, ice, plain }) {
  const { default: Janus } = await import('/sdk/janus-gateway/npm/dist/janus.es.js');
  await new Promise((callback) => Janus.init({ debug: ['error'], callback, dependencies: Janus.useDefaultDependencies({ adapter }) }));
  const janus = await new Promise((resolve, error) => {
    const session = new Janus({ server: url, iceServers: [], ...ice, success: () => resolve(session), error });
  });
  const publisher = await handleOf(janus, plain, (message, jsep) => {
    if (jsep) publisher.handleRemoteJsep({ jsep });
    for (const feed of message.publishers || []) subscribe(janus, plain, feed);
  });
  await ask(publisher, { request: 'create', room: config.room, publishers: 9 }); // the first creates it
  await ask(publisher, { request: 'join', room: config.room, ptype: 'publisher', id: config.user, display: config.user });
  const { audio, video, height, fps } = config.media || {};
  const size = { width: (height * 16) / 9, height, frameRate: fps };
  const picture = video === 'camera' ? size : (await media({ video, height, fps })).getTracks()[0];
  const tracks = [audio && { type: 'audio', capture: true, recv: false }, video && { type: 'video', capture: picture, recv: false }].filter(Boolean);
  if (tracks.length) {
    const jsep = await new Promise((success, error) => publisher.createOffer({ tracks, success, error }));
    await ask(publisher, { request: 'configure' }, jsep);
    handOver('publisher', { pc: publisher.webrtcStuff.pc, onlySends: true });
  }
  call.receiverOf = (user) => call.pcs.get(user).pc.getReceivers().find((one) => one.track.kind === 'video');
  call.hangUp = () => new Promise((success) => janus.destroy({ success, error: success }));
}

/** A handle to which the library is attached, unless its connection is handed over plainly. */
function handleOf(janus, plain, onmessage, onremotetrack) {
  return new Promise((resolve, error) => {
    janus.attach({
      plugin: videoRoom,
      onmessage,
      onremotetrack,
      error,
      async success(handle) {
        if (!config.quiet && !plain) {
          const { attachJanus } = await import('/dist/qos-janus.mjs');
          (call.attached ??= []).push(attachJanus(library, handle, config.room, { owner: (feed) => feed.display }));
        }
        resolve(handle);
      },
    });
  });
}

/** Sends a request. It resolves when Janus has it; answers of the plugin are messages. */
function ask(handle, message, jsep) {
  return new Promise((success, error) => handle.send({ message, jsep, success, error }));
}

async function subscribe(janus, plain, feed) {
  const handle = await handleOf(
    janus,
    plain,
    async (_message, jsep) => {
      if (!jsep) return;
      const answer = await new Promise((success, error) => handle.createAnswer({ jsep, tracks: [], success, error }));
      await ask(handle, { request: 'start', room: config.room }, answer);
      handOver(feed.id, { pc: handle.webrtcStuff.pc });
    },
    (track, _mid, on) => on && show(track),
  );
  await ask(handle, { request: 'join', room: config.room, ptype: 'subscriber', streams: [{ feed: feed.id }] });
}
