// As applications imported the file of the former service's package.
import qos from '@qosrtc/client/dist/qos.min.js';

const { outcome, start, backendUrl } = window.application();
outcome.globals = typeof window.qos;
outcome.instance = typeof qos === 'function' && qos.fabricUsage.audio === 'audio';
start(qos, { backendUrl });
