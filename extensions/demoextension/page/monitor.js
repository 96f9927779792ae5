// The application's use of the client library, all of it in one place. Where the library
// could not be loaded the calls work without it, and the page says so.

/**
 * hooks: onInit(csError, csErrMsg), onStats(stats), onCall(operation, answer).
 * Returns {identify(user), call(operation, ...args)}.
 */
export function createMonitor(config, hooks) {
  const Library = window.qos;
  if (typeof Library !== 'function') {
    hooks.onInit('notLoaded', 'the client library could not be loaded from the back-end');
    return { identify: () => {}, call: () => ({ status: 'failure', msg: 'the client library is not there' }) };
  }
  const library = new Library();
  const call = (operation, ...args) => {
    const answer = library[operation](...args);
    hooks.onCall(operation, answer);
    return answer;
  };
  let known = '';
  const identify = (user) => {
    if (user === known) {
      return;
    }
    known = user;
    call('initialize', config.appID, config.appSecret, user, hooks.onInit, hooks.onStats, {
      applicationVersion: 'demo 1.0',
      disablePrecalltest: true,
    });
  };
  return { identify, call };
}
