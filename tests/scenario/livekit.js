// A participant of a room of LiveKit's server.

/** Joins, attaches the library to the room, publishes, and shows what others publish. */
async function joinLiveKit({ url, token, ice }) {
  const room = new LivekitClient.Room({ adaptiveStream: true, dynacast: true });
  call.room = room;
  if (!config.quiet) {
    const { attachLiveKit } = await import('/dist/qos-livekit.mjs');
    call.attached = attachLiveKit(library, room, config.room);
  }
  room.on('trackSubscribed', (track) => document.body.append(track.attach()));
  room.on('trackUnsubscribed', (track) => track.detach().forEach((element) => element.remove()));
  await room.connect(url, token, ice ? { rtcConfig: ice } : {});
  const { publisher, subscriber } = room.engine.pcManager;
  for (const transport of [publisher, subscriber]) if (transport) call.pcs.set(call.pcs.size, { pc: transport._pc });
  const { audio, video, height, fps } = config.media || {};
  if (audio) await room.localParticipant.setMicrophoneEnabled(true);
  if (video) await room.localParticipant.setCameraEnabled(true, { resolution: { width: (height * 16) / 9, height, frameRate: fps } });
  call.hangUp = () => room.disconnect();
}
