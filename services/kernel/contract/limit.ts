/** Limits work in progress. A full limit refuses at once, because a request in a queue may only be reached after its deadline. */
export type Limit = { readonly tryEnter: () => boolean; readonly leave: () => void };

/**
 * Of requests over NATS. Those that wait gather in sets; more of the slowest command than this would wait past its deadline.
 */
export const MAX_CONCURRENT_REQUESTS = 1_024;

/**
 * Of calls between services. Some need a database connection each; and Node.js ends an HTTP/2 session when a thousand calls
 * in it are cancelled at once, the answers of all others with it.
 */
export const MAX_CONCURRENT_CALLS = 256;

export function limit(max: number): Limit {
  let inside = 0;
  return {
    tryEnter() {
      if (inside >= max) return false;
      inside += 1;
      return true;
    },
    leave() {
      inside -= 1;
    },
  };
}
