// IDs as applications have them: whole numbers too, in every operation that takes one.

import { describe, expect, it } from 'vitest';
import { conference, inCall, load, open, refused, taken, tokens, watchForThrows, welcome } from './callers/app.ts';
import { FakePeerConnection, startHarness } from './harness.ts';

watchForThrows();

const digits = (name: string) => `${name} is a number: its digits were taken`;

describe('numbers (spec: INIT-03, FAB-13)', () => {
  it.each<[unknown, string]>([
    [42, '42'],
    [0, '0'],
    [-0, '0'],
    [-7, '-7'],
    [1e3, '1000'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [2 ** 53, '9007199254740992'],
    [2 ** 63, '9223372036854775808'],
    [1e21, '1000000000000000000000'],
    [1e22, '10000000000000000000000'],
    [9223372036854775807n, '9223372036854775807'],
  ])('%s is %s in every place', async (id, text) => {
    const harness = startHarness();
    const qos = new (load())();
    taken(qos.initialize('demo', tokens, id), digits('localUserID'));
    await welcome(harness);
    const socket = harness.socket();
    const pc = new FakePeerConnection();
    const added = qos.addNewFabric(pc, id, 'multiplex', id);
    taken(added, digits('remoteUserID'), digits('conferenceID'));
    expect(socket.of('fabric')[0]).toMatchObject({ conferenceID: text, remoteUserID: text });
    taken(qos.sendFabricEvent(pc, 'audioMute', text)); // the number and its digits are one
    taken(qos.reportUserIDChange(pc, id, { aliasName: id }, 'remote'), digits('newUserID.aliasName'));
    expect(socket.of('event').at(-1)?.data).toMatchObject({ newUserID: { userName: text, aliasName: text } });
    taken(qos.associateMstWithUserID(pc, id, id, 1, ''), digits('userID'));
    expect(socket.of('event').at(-1)?.data).toMatchObject({ userID: text });
    taken(qos.sendUserFeedback(id, { userId: id, overall: 3 }), digits('conferenceID'), digits('feedback.userID'));
    expect(socket.of('feedback')[0]).toMatchObject({ conferenceID: text, userID: text });
    taken(qos.reportError(null, id, 'applicationLog', 'x'), digits('conferenceID'));
    expect(socket.of('log')[0]).toMatchObject({ conferenceID: text });
  });

  it('distinct numbers are distinct IDs', async () => {
    const page = await open();
    for (const id of [1e21, 1e21 + 2 ** 17, 2 ** 53, 2 ** 53 + 2])
      taken(page.qos.addNewFabric(new FakePeerConnection(), 'bob', 'data', id), 'conferenceID');
    expect(new Set(page.of('fabric').map(({ conferenceID }) => conferenceID)).size).toBe(4);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1.5, true, new Number(5), [5]])('%s is refused', async (id) => {
    const page = await open();
    refused(
      page.qos.addNewFabric(new FakePeerConnection(), 'bob', 'data', id),
      'conferenceID must be a non-empty string',
    );
    refused(new (load())().initialize('demo', tokens, id), 'localUserID');
  });

  it.each(['', ' ', '\t\r\n', '\u00a0', '\u2003\ufeff', '\0', 'a\0', '\0a'])('%j is refused everywhere', async (id) => {
    const page = await inCall();
    const { qos, pc } = page;
    const before = page.sent().length;
    refused(qos.addNewFabric(new FakePeerConnection(), 'bob', 'data', id), 'conferenceID must');
    refused(qos.addNewFabric(new FakePeerConnection(), id, 'data', 'x'), 'remoteUserID must');
    refused(qos.reportUserIDChange(pc, conference, id, 'local'), 'newUserID must');
    refused(qos.associateMstWithUserID(pc, id, conference, 1, ''), 'userID must');
    refused(qos.sendUserFeedback(conference, { userID: id, overall: 3 }), 'feedback.userID must');
    refused(qos.reportError(null, id, 'createOffer'), 'conferenceID must');
    expect(page.sent()).toHaveLength(before);
  });

  it('blanks inside are kept byte for byte', async () => {
    const page = await open();
    taken(page.qos.addNewFabric(new FakePeerConnection(), ' bob\n', 'data', ' a  room '));
    expect(page.of('fabric')[0]).toMatchObject({ conferenceID: ' a  room ', remoteUserID: ' bob\n' });
  });
});

describe('usageLabel (spec: API-03)', () => {
  it.each<[string, string]>([
    ['HD Camera (Built-in) 2', 'HD Camera (Built-in)'],
    ['é'.repeat(11), 'é'.repeat(10)],
    ['😀😀😀😀😀😀', '😀😀😀😀😀'],
    [`${'x'.repeat(18)}😀`, 'x'.repeat(18)],
  ])('%s is cut to whole characters, the SSRC is mapped', async (label, kept) => {
    const page = await inCall();
    taken(page.qos.associateMstWithUserID(page.pc, 'carol', conference, 7, label), 'usageLabel was cut to 20 bytes');
    expect(page.of('event').at(-1)?.data).toMatchObject({ ssrc: 7, userID: 'carol', usageLabel: kept });
  });

  it.each([undefined, null, 7, {}])('%s is refused', async (label) => {
    const page = await inCall();
    refused(page.qos.associateMstWithUserID(page.pc, 'carol', conference, 7, label), 'usageLabel must be a string');
  });
});

describe('optional scores (spec: API-07)', () => {
  it.each(['audio', 'video', 'screen'])('%s: 0 is not given', async (name) => {
    const page = await inCall();
    for (const none of [0, '0', -0, null, undefined]) {
      taken(page.qos.sendUserFeedback(conference, { userID: 'alice', overall: 5, [name]: none }));
      expect(page.of('feedback').at(-1)).toMatchObject({ overall: 5, audio: null, video: null, screen: null });
    }
    for (const bad of [6, '6', 3.5, -1, '', false, 'x', Number.NaN])
      refused(page.qos.sendUserFeedback(conference, { userID: 'alice', overall: 5, [name]: bad }), `feedback.${name}`);
    for (const zero of [0, '0', null])
      refused(page.qos.sendUserFeedback(conference, { userID: 'alice', overall: zero, [name]: 1 }), 'feedback.overall');
  });
});
