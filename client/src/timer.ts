// A timer that can be set again.

const longestMs = 86_400_000; // far below what setTimeout can count

/** One timer: setting it puts off what it was set for; without a task it is cancelled. */
export type Timer = (ms?: number, task?: () => void) => void;

export function createTimer(): Timer {
  let id: ReturnType<typeof setTimeout> | undefined;
  return (ms = 0, task) => {
    clearTimeout(id);
    if (task) id = setTimeout(task, Math.min(ms, longestMs));
  };
}
