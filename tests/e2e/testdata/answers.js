'use strict';

/**
 * Records each answer of getStats on its way to the library. An answer has a task of its own,
 * in which the page's clock stands still: the library uses these reports and this time, however
 * busy the machine is.
 */
function recordAnswers(pc) {
  const ask = pc.getStats.bind(pc);
  const now = performance.now.bind(performance);
  const readings = [];
  let stopped;
  let newest = -1;
  let before;
  performance.now = () => stopped ?? now();
  async function record(answer, previous) {
    await previous?.catch(() => {});
    const reports = await answer;
    await new Promise((later) => setTimeout(later, 2)); // so that no two have the same ms
    stopped = now();
    newest = readings.push({ at: stopped, reports: [...reports.values()] }) - 1;
    setTimeout(() => { stopped = undefined; newest = -1; });
    return reports;
  }
  pc.getStats = () => { before = record(ask(), before); return before; };
  return {
    ask,
    readings,
    /** What csStatsCallback was given, and the answer that it was made of; -1: of none, as none came in time. */
    measured(stats) {
      const reading = newest;
      newest = -1;
      return { stats: JSON.parse(JSON.stringify(stats)), reading };
    },
  };
}
