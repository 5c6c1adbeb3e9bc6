/** Lets a test stop a call of another service in the middle, look around, and let it go on. */
export type Latch = {
  /** Resolves when somebody waits at it. */
  readonly reached: Promise<void>;
  readonly open: () => void;
  readonly pass: () => Promise<void>;
};

export function latch(): Latch {
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
