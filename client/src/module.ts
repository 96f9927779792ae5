// Entry of qos.mjs. The names serve code that uses the module's namespace as the object.

import { assemble } from './index.ts';
import { attempt } from './result.ts';

// The code that a bundler writes in its place may need a document.
const qos = assemble(attempt(() => import.meta.url));

export default qos;
export const {
  initialize,
  addNewFabric,
  reportError,
  associateMstWithUserID,
  sendFabricEvent,
  reportUserIDChange,
  sendUserFeedback,
  on,
  attachWifiStatsHandler,
  sendCallDetails,
  sendCustomEvent,
  sendCustomStats,
  startPrecallTests,
  stopPrecallTests,
  makePrecallTest,
  getTurnCredentials,
  setIdentifiers,
  setProxyConfig,
  resetWifiStatsHandler,
  getSctResults,
  version,
  fabricUsage,
  fabricEvent,
  webRTCFunctions,
  userIDType,
  endpointType,
  transmissionDirection,
  qosAPIReturnStatus,
  csError,
  qualityRating,
  callType,
  roles,
  wrtcFuncNames,
  callStatsAPIReturnStatus,
} = qos;
