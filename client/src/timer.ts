// A timer that can be set again.

const longestMs = 86_400_000; // far below what setTimeout can count

/** One timer: setting it puts off what it was set for. */
export interface Timer {
  set(ms: number, task: () => void): void;
  clear(): void;
}

export function createTimer(): Timer {
  let id: ReturnType<typeof setTimeout> | undefined;
  const clear = () => clearTimeout(id);
  return {
    clear,
    set(ms, task) {
      clear();
      id = setTimeout(task, Math.min(ms, longestMs));
    },
  };
}
