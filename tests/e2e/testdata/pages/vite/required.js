import { library } from './required.cjs';

const { outcome, start, backendUrl } = window.application();
outcome.globals = typeof window.qos;
outcome.instance = library.version === library().version;
start(new library(), { backendUrl });
