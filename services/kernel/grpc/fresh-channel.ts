import type { Client as Channel } from "@grpc/grpc-js";

/** A channel asks for the addresses of its service when it is made, and then only when a connection ends. */
export type FreshChannel = Disposable & {
  /** Runs a call. `run` reports the end of the call. */
  readonly use: (run: (channel: Channel, ended: () => void) => void) => void;
};

/** A replica that has started, or that is about to stop, is known to its callers after this time. */
const FRESH_FOR_MS = 5_000;
/** Until then the calls are on the earlier channel. */
const READY_WITHIN_MS = 5_000;

type Used = { readonly channel: Channel; calls: number; isReplaced: boolean };

/**
 * While calls are made, the channel is replaced by one with the present addresses, as soon as that is connected. Channels share their connections, so none
 * to an address that is still valid is closed. The other way, servers that end connections by age (`grpc.max_connection_age_ms`), loses the
 * calls that are on the way to a connection that ends.
 */
export function freshChannel(open: () => Channel, freshForMs = FRESH_FOR_MS): FreshChannel {
  let current = inUse(open());
  let next: Channel | undefined;
  let freshUntil = Date.now() + freshForMs;

  function replace(): void {
    const made = open();
    next = made;
    made.waitForReady(Date.now() + READY_WITHIN_MS, (error) => {
      // Disposed meanwhile.
      if (next !== made) return;
      next = undefined;
      freshUntil = Date.now() + freshForMs;
      if (error !== undefined) return made.close();
      const earlier = current;
      current = inUse(made);
      earlier.isReplaced = true;
      closeWhenUnused(earlier);
    });
  }

  return {
    use(run) {
      if (next === undefined && Date.now() >= freshUntil) replace();
      const used = current;
      used.calls += 1;
      run(used.channel, () => {
        used.calls -= 1;
        closeWhenUnused(used);
      });
    },
    [Symbol.dispose]() {
      next?.close();
      next = undefined;
      current.channel.close();
    },
  };
}

function inUse(channel: Channel): Used {
  return { channel, calls: 0, isReplaced: false };
}

function closeWhenUnused({ channel, calls, isReplaced }: Used): void {
  if (isReplaced && calls === 0) channel.close();
}
