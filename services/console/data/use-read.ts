import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/index.ts";
import { listen, type Topic } from "../live/topics.ts";
import { clientOfSession } from "../session/session.ts";
import { throttled } from "./throttle.ts";

export type Read<T> = {
  /** The last answer; it stays while a newer one is read. */
  readonly data: T | undefined;
  /** Why the last attempt failed. */
  readonly problem: unknown;
  readonly isLoading: boolean;
  readonly refresh: () => void;
};

type Options = {
  /** Something else is read when one of these changes. */
  readonly keys: readonly unknown[];
  /** It is read again when an event is about one of these. */
  readonly topics?: readonly Topic[];
  /** It is read again and again: no event is published about it. */
  readonly everyMs?: number;
  /** Without the scope nothing is read, and there are no data. */
  readonly isPermitted?: boolean;
};

type State<T> = Omit<Read<T>, "refresh">;

/** Reads when the page opens, and again when an event says that it has changed. */
export function useRead<T>(
  read: (client: Client, signal: AbortSignal) => Promise<T>,
  { keys, topics = [], everyMs, isPermitted = true }: Options,
): Read<T> {
  const [state, setState] = useState<State<T>>({ data: undefined, problem: undefined, isLoading: isPermitted });
  const current = useRef({ read, abort: () => {} });
  current.current.read = read;

  const refresh = useCallback(() => {
    current.current.abort();
    const controller = new AbortController();
    current.current.abort = () => controller.abort();
    setState((before) => ({ ...before, isLoading: true }));
    current.current.read(clientOfSession(), controller.signal).then(
      (data) => controller.signal.aborted || setState({ data, problem: undefined, isLoading: false }),
      (problem: unknown) => controller.signal.aborted || setState(({ data }) => ({ data, problem, isLoading: false })),
    );
  }, []);

  useEffect(() => {
    setState({ data: undefined, problem: undefined, isLoading: isPermitted });
    if (!isPermitted) return undefined;
    refresh();
    const later = throttled(refresh);
    const ignore = listen(topics, () => later.call(undefined, () => undefined));
    const timer = everyMs === undefined ? undefined : setInterval(refresh, everyMs);
    return () => {
      ignore();
      clearInterval(timer);
      later.stop();
      current.current.abort();
    };
  }, keys);

  return { ...state, refresh };
}
