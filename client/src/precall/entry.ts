// Entry of qos-precall.mjs, the module of pre-call tests. The library loads it when a test runs; an
// application that is bundled imports it as @qosrtc/client/precall.

import { register } from './tester.ts';

register();
