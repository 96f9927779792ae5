// A timer that can be set again.

const longestMs = 86_400_000; // far below what setTimeout can count

/** One timer: setting it puts off what it was set for. */
export interface Timer {
  start(ms: number, task: () => void): void;
  cancel(): void;
}

export function createTimer(): Timer {
  let id: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => clearTimeout(id);
  return {
    cancel,
    start(ms, task) {
      cancel();
      id = setTimeout(task, Math.min(ms, longestMs));
    },
  };
}
