// A timer that can be set again.

const longestMs = 86_400_000; // far below what setTimeout can count

/** A timer of one task: with a time it is set anew, without one it is cancelled. */
export type Timer = (ms?: number) => void;

export function createTimer(task: () => void): Timer {
  let id: ReturnType<typeof setTimeout> | undefined;
  return (ms) => {
    clearTimeout(id);
    if (ms !== undefined) id = setTimeout(task, Math.min(ms, longestMs));
  };
}
