/** Caps work in progress. Full means no, at once: what waits in a queue past its deadline is work for nobody. */
export type Limit = { readonly tryEnter: () => boolean; readonly leave: () => void };

export function limit(most: number): Limit {
  let inside = 0;
  return {
    tryEnter() {
      if (inside >= most) return false;
      inside += 1;
      return true;
    },
    leave() {
      inside -= 1;
    },
  };
}
