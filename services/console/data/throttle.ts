const EVERY_MS = 1_000;

/** At most one call a second; what comes in between is done once, at its end. */
export function throttled<Argument>(work: (argument: Argument) => void, everyMs = EVERY_MS) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  let waiting: Argument[] = [];
  const run = (join: (all: readonly Argument[]) => Argument): void => {
    timer = undefined;
    last = Date.now();
    const all = waiting;
    waiting = [];
    work(join(all));
  };
  return {
    call(argument: Argument, join: (all: readonly Argument[]) => Argument): void {
      waiting.push(argument);
      timer ??= setTimeout(() => run(join), Math.max(0, last + everyMs - Date.now()));
    },
    stop: () => clearTimeout(timer),
  };
}
