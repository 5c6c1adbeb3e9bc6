/** Lets a test pause a call to another service and continue it later. */
export type Latch = {
  /** Resolves when a call waits at it. */
  readonly reached: Promise<void>;
  readonly open: () => void;
  readonly pass: () => Promise<void>;
};

export function createLatch(): Latch {
  const arrival = Promise.withResolvers<void>();
  const opening = Promise.withResolvers<void>();
  return {
    reached: arrival.promise,
    open: () => opening.resolve(),
    async pass() {
      arrival.resolve();
      await opening.promise;
    },
  };
}
