export const IDLE_MS = 15 * 60_000;
export const WARNED_BEFORE_MS = 60_000;

const SIGNS_OF_LIFE = ["pointerdown", "keydown", "wheel", "touchstart"] as const;
const CHECKED_EVERY_MS = 1_000;

export type Idle = {
  /** Milliseconds until the sign-out, while it is announced; undefined otherwise. */
  readonly onChange: (leftMs: number | undefined) => void;
  readonly onEnd: () => void;
};

/**
 * Watches for input until it is stopped. A clock decides, so that a computer that slept is signed out when it wakes. Input during the
 * announcement does not count: `stay` does, so that a key that is hit by chance keeps no session open.
 */
export function watchIdle({ onChange, onEnd }: Idle): { readonly stay: () => void; readonly stop: () => void } {
  let last = Date.now();
  let isAnnounced = false;
  const note = (): void => {
    if (!isAnnounced) last = Date.now();
  };
  const check = (): void => {
    const leftMs = IDLE_MS - (Date.now() - last);
    if (leftMs <= 0) {
      stop();
      onEnd();
      return;
    }
    const shouldAnnounce = leftMs <= WARNED_BEFORE_MS;
    if (shouldAnnounce || isAnnounced) onChange(shouldAnnounce ? leftMs : undefined);
    isAnnounced = shouldAnnounce;
  };
  const timer = setInterval(check, CHECKED_EVERY_MS);
  for (const sign of SIGNS_OF_LIFE) addEventListener(sign, note, { passive: true, capture: true });
  function stop(): void {
    clearInterval(timer);
    for (const sign of SIGNS_OF_LIFE) removeEventListener(sign, note, { capture: true });
  }
  return {
    stay: () => {
      last = Date.now();
      check();
    },
    stop,
  };
}
