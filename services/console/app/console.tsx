import { useEffect } from "preact/hooks";
import { followFeed } from "../live/feed.ts";
import { session, signOut } from "../session/session.ts";
import { Frame } from "./frame.tsx";
import { SignIn } from "./sign-in.tsx";
import "./scheme.ts";

export function Console() {
  const current = session.value;

  // A tab that comes back from the browser's cache of pages has no key.
  useEffect(() => {
    const forget = (): void => signOut();
    addEventListener("pagehide", forget);
    return () => removeEventListener("pagehide", forget);
  }, []);

  useEffect(() => {
    if (current?.feedBegin === undefined) return undefined;
    const controller = new AbortController();
    void followFeed(current.client, current.feedBegin, controller.signal);
    return () => controller.abort();
  }, [current]);

  return current === undefined ? <SignIn /> : <Frame key={current.key.key_id} current={current} />;
}
