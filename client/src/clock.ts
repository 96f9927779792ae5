// The server's time, as far as the page can measure it (protocol section 5).
//
// A stamp taken before the first sample, or after a sleep, is provisional: it carries the
// number of its epoch, and the sample that ends the epoch shows by how much all of its
// stamps were off. So frames can wait unsent and still end up on the server's clock.

/** A moment: provisional until the shift of its epoch is known. */
export interface Stamp {
  readonly ms: number;
  readonly epoch: number;
}

/** The two clocks of the page, in ms. */
export interface Clocks {
  wall(): number;
  mono(): number;
}

/** The corrected clock. */
export interface Clock {
  /** The moment now. */
  stamp(): Stamp;
  /** A stamp on the server's clock, in whole ms. */
  time(stamp: Stamp): number;
  /** The monotonic clock, for durations. */
  mono(): number;
  /** Takes one exchange with the server: sent and received on the monotonic clock. */
  sample(sent: number, received: number, serverAt: number): void;
  /** False before the first sample and after a sleep or a step of the wall clock. */
  synced(): boolean;
}

const maxPartMs = 1000;
const keptSamples = 5;

export function createClock(clocks: Clocks): Clock {
  const apart = () => clocks.wall() - clocks.mono(); // wall against monotonic
  let parted = apart();
  let offset = parted; // server against monotonic, as far as known
  let samples: { tripMs: number; offset: number }[] = [];
  const shifts: number[] = [0]; // by epoch

  /** Even epochs are provisional, odd ones synchronised. */
  const epoch = () => shifts.length - 1;
  const synced = () => {
    const now = apart();
    const step = now - parted;
    if (Math.abs(step) > maxPartMs) {
      parted = now;
      // Forward it was most likely a sleep, in which true time passed; backward a correction of the wall clock.
      if (step > 0) offset += step;
      samples = [];
      if (epoch() % 2) shifts.push(0);
    }
    return epoch() % 2 === 1;
  };

  return {
    synced,
    mono: clocks.mono,
    stamp() {
      synced();
      return { ms: clocks.mono() + offset, epoch: epoch() };
    },
    time: (stamp) => Math.round(stamp.ms + (shifts[stamp.epoch] ?? 0)),
    sample(sent, received, serverAt) {
      if (!Number.isFinite(serverAt)) return;
      const wasSynced = synced();
      samples.push({ tripMs: received - sent, offset: serverAt - (sent + received) / 2 });
      samples = samples.slice(-keptSamples);
      const best = samples.reduce((a, b) => (b.tripMs < a.tripMs ? b : a));
      if (!wasSynced) {
        shifts[epoch()] = best.offset - offset;
        shifts.push(0);
      }
      offset = best.offset;
      parted = apart();
    },
  };
}

/** The clocks of the page. */
export const pageClocks: Clocks = {
  wall: () => Date.now(),
  mono: () => performance.now(),
};
