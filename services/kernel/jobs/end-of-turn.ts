let next: Promise<void> | undefined;

/**
 * Resolves once the events of this turn of the event loop were handled. Messages that are sent after it leave together: the
 * connection writes them in one system call, and the receiver reads them in one.
 */
export function endOfTurn(): Promise<void> {
  next ??= new Promise((resolve) => {
    setImmediate(() => {
      next = undefined;
      resolve();
    });
  });
  return next;
}
