import qos, { endpointType, fabricUsage, initialize } from '@qosrtc/client';

const { outcome, start, backendUrl } = window.application();
const monitor = new qos();
outcome.globals = typeof window.qos;
outcome.instance = fabricUsage.multiplex === monitor.fabricUsage.multiplex && endpointType.peer === 'peer';
// A bundle's URL tells nothing about the collector, and the library says so (LIB-03).
outcome.withoutBackend = initialize('demo', 'demo-secret', 'ada').msg;
start(monitor, { backendUrl });
