// A participant of a room of LiveKit's server.

/** Joins, attaches the library to the room, publishes, and shows what others publish. */
async function joinLiveKit({ url, token, ice, plain, options }) {
  const room = new LivekitClient.Room({ adaptiveStream: true, dynacast: true, ...options });
  call.room = room;
  if (!config.quiet && !plain) {
    const { attachLiveKit } = await import('/dist/qos-livekit.mjs');
    call.attached = attachLiveKit(library, room, config.room);
  }
  room.on('trackSubscribed', (track) => document.body.append(track.attach()));
  room.on('trackUnsubscribed', (track) => track.detach().forEach((element) => element.remove()));
  await room.connect(url, token, ice ? { rtcConfig: ice } : {});
  const { publisher, subscriber } = room.engine.pcManager;
  for (const transport of [publisher, subscriber]) if (transport) handOver(call.pcs.size, { pc: transport._pc });
  const { localParticipant } = room;
  const { audio, video, height, fps } = config.media || {};
  if (audio) await localParticipant.setMicrophoneEnabled(true);
  if (video === 'camera') await localParticipant.setCameraEnabled(true, { resolution: { width: (height * 16) / 9, height, frameRate: fps } });
  if (video && video !== 'camera') {
    const [track] = (await media({ video, height, fps })).getTracks();
    await localParticipant.publishTrack(track, { source: 'camera' });
  }
  call.share = async () => { call.screen = await localParticipant.publishTrack(slides(360), { source: 'screen_share' }); };
  call.unshare = () => localParticipant.unpublishTrack(call.screen.track);
  call.receiverOf = (user) => room.remoteParticipants.get(user).getTrackPublication('camera').track.receiver;
  call.hangUp = () => room.disconnect();
}
