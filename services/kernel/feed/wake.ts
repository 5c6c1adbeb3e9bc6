const wakers = new Set<() => void>();

/** Called after the commit of a transaction that told something. A relay that had nothing to do just looks. */
export function wakeRelays(): void {
  for (const wake of wakers) wake();
}

/** Until disposed, every commit of this process that told something calls the waker. */
export function onTold(wake: () => void): Disposable {
  wakers.add(wake);
  return {
    [Symbol.dispose]() {
      wakers.delete(wake);
    },
  };
}
