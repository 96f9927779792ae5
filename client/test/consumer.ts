// Compiled, never run: what an application writes against the published types.

import qos, { addNewFabric, fabricUsage, initialize } from '../dist/qos.mjs';

export function application(pc: RTCPeerConnection): void {
  const monitor = new qos();
  const another = qos('ignored');
  monitor.initialize('app', 'secret', { userName: 'Alice', aliasName: 'a' }, (csError, msg) =>
    console.info(csError, msg),
  );
  initialize(
    'app',
    (forcenew, callback) => callback(null, forcenew ? 'new' : 'cached'),
    'alice',
    null,
    (stats) => {
      for (const track of stats.mediaStreamTracks)
        console.info(track.statsType, track.quality, stats.streams[track.ssrc]?.bitrate);
    },
  );
  const { status, msg } = another.addNewFabric(pc, 'bob', fabricUsage.multiplex, 'standup', {
    remoteEndpointType: 'server',
  });
  addNewFabric(pc, 'bob', 'audio', 'standup', (err) => console.info(err, status, msg));
  monitor.reportError(null, 'standup', monitor.webRTCFunctions.getUserMedia, new DOMException('x'));
  monitor.on('error', (csError: string) => console.info(csError));
  // @ts-expect-error conferenceID is required
  monitor.addNewFabric(pc, 'bob', 'audio');
}
