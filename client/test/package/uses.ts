// Compiled, never run: an application in TypeScript that uses every operation, and misuses
// each once. It is compiled against the package as it is installed.

import * as namespace from '@qosrtc/client';
import qos, {
  addNewFabric,
  type ConfigParams,
  endpointType,
  type FabricStats,
  type Feedback,
  fabricEvent,
  fabricUsage,
  type Qos,
  type Result,
  transmissionDirection,
  userIDType,
  webRTCFunctions,
} from '@qosrtc/client';

declare const pc: RTCPeerConnection;
declare const video: HTMLVideoElement;

export const config: ConfigParams = {
  disableBeforeUnloadHandler: true,
  applicationVersion: '4.2',
  disablePrecalltest: true,
  siteID: 'HQ',
  collectLegacyStats: false,
  collectIP: false,
  additionalIDs: { customerID: 'c', tenantID: 't' },
  backendUrl: 'https://qos.example.org',
};
export const feedback: Feedback = { userID: 'alice', overall: 4, audio: '5', video: null, comment: 'fine' };
export const stats = (seen: FabricStats): string => `${seen.fabricState} ${seen.mediaStreamTracks[0]?.bitrate ?? ''}`;

export function uses(monitor: Qos): Result[] {
  return [
    monitor.initialize('app', 'secret', 'alice', (csError, msg) => void [csError, msg], stats, config),
    monitor.initialize('app', (_forcenew, callback) => callback(null, 'jwt'), { userName: 'A', aliasName: 'a' }),
    monitor.addNewFabric(pc, 'bob', fabricUsage.multiplex, 'c'),
    monitor.addNewFabric(pc, 'bob', 'audio', 'c', (err, msg) => void [err, msg]),
    addNewFabric(pc, 'bob', 'audio', 'c', {
      remoteEndpointType: endpointType.server,
      fabricTransmissionDirection: transmissionDirection.sendonly,
    }),
    monitor.reportError(pc, 'c', webRTCFunctions.createOffer, new Error('x'), pc.localDescription, null),
    monitor.reportError(null, 'c', monitor.wrtcFuncNames.applicationLog, { line: 1 }),
    monitor.associateMstWithUserID(pc, 'bob', 'c', '4242', 'camera', video),
    monitor.sendFabricEvent(pc, fabricEvent.activeDeviceList, 'c', { deviceList: [] }),
    monitor.reportUserIDChange(pc, 'c', 'bob2', userIDType.remote),
    monitor.sendUserFeedback('c', feedback, (err) => void err),
    monitor.on('error', (csError: string, msg: string) => void [csError, msg]),
    monitor.on('stats', (seen: FabricStats) => void seen.streams),
    monitor.attachWifiStatsHandler(async () => JSON.stringify({ signal: 1, rssi: -60, timestamp: 1 })),
    monitor.sendCallDetails(pc, 'c', { callType: 'inbound', role: 'agent' }),
    monitor.sendCustomEvent(null, 'c', [{ name: 'ringing' }]),
    monitor.sendCustomStats(null, 'c', [{ name: 'cpu', value: 0.5 }]),
    monitor.startPrecallTests([{ urls: ['turn:t.example'], username: 'u', credential: 'c' }], 60),
    monitor.stopPrecallTests(),
    monitor.makePrecallTest(),
    monitor.makePrecallTest((status, { rtt }, reason) => [status, rtt, reason]),
  ];
}

export const instances: Qos[] = [new qos(), qos('ignored'), qos, namespace];
export const servers: Promise<RTCIceServer[]> = qos.getTurnCredentials('app', 'secret');
export const version: string = namespace.version;

export function misuses(monitor: Qos): void {
  // @ts-expect-error the user is missing
  monitor.initialize('app', 'secret');
  // @ts-expect-error AppID is no list
  monitor.initialize(['app'], 'secret', 'alice');
  // @ts-expect-error a user without an alias
  monitor.initialize('app', 'secret', { userName: 'Alice' });
  // @ts-expect-error an unknown option
  monitor.initialize('app', 'secret', 'alice', null, null, { collectIp: true });
  // @ts-expect-error a number for text
  monitor.initialize('app', 'secret', 'alice', null, null, { applicationVersion: 3 });
  // @ts-expect-error null for the PeerConnection
  monitor.addNewFabric(null, 'bob', 'audio', 'c');
  // @ts-expect-error conferenceID is missing
  monitor.addNewFabric(pc, 'bob', 'audio');
  // @ts-expect-error a direction as WebRTC names it
  monitor.addNewFabric(pc, 'bob', 'audio', 'c', { fabricTransmissionDirection: 'recvonly' });
  // @ts-expect-error a member that there is not
  monitor.addNewFabric(pc, 'bob', fabricUsage.smell, 'c');
  // @ts-expect-error the function is missing
  monitor.reportError(pc, 'c');
  // @ts-expect-error a conference that is neither text nor a number
  monitor.reportError(pc, true, 'createOffer');
  // @ts-expect-error the label is missing
  monitor.associateMstWithUserID(pc, 'bob', 'c', 4242);
  // @ts-expect-error a list for the SSRC
  monitor.associateMstWithUserID(pc, 'bob', 'c', [1], 'camera');
  // @ts-expect-error a member that there is not
  monitor.sendFabricEvent(pc, fabricEvent.mute, 'c');
  // @ts-expect-error the conference is missing
  monitor.sendFabricEvent(pc, 'audioMute');
  // @ts-expect-error the kind is missing
  monitor.reportUserIDChange(pc, 'c', 'bob2');
  // @ts-expect-error the score is missing
  monitor.sendUserFeedback('c', { userID: 'alice' });
  // @ts-expect-error the callback is missing
  monitor.on('stats');
  // @ts-expect-error results are no number
  monitor.on('preCallTestResults', (_status: 'success' | 'failure', results: number) => results);
  // @ts-expect-error a configuration has no iceServers of its own
  monitor.on('defaultConfig', ({ iceServers }) => iceServers);
  // @ts-expect-error a ranking is no list
  monitor.on('connectionRecommendation', (ranking: string[]) => ranking);
  // @ts-expect-error the answer is no promise of text
  monitor.attachWifiStatsHandler(() => 7);
  // @ts-expect-error text for the details
  monitor.sendCallDetails(pc, 'c', 'inbound');
  // @ts-expect-error the events are missing
  monitor.sendCustomEvent(pc, 'c');
  // @ts-expect-error the values are missing
  monitor.sendCustomStats(pc, 'c');
  // @ts-expect-error text for seconds
  monitor.startPrecallTests([], 'sixty');
  // @ts-expect-error it takes nothing
  monitor.stopPrecallTests(1);
  // @ts-expect-error it takes nothing
  monitor.makePrecallTest(1);
  // @ts-expect-error the secret is missing
  monitor.getTurnCredentials('app');
  // @ts-expect-error the version is not for writing
  monitor.version = '2';
}
