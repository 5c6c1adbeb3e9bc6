import { now } from "../data/ticker.ts";
import { durationText, instantOf, localText, utcText } from "../formats/time.ts";

type Props = {
  readonly at: string | null | undefined;
  /** Whether it can be reached by keyboard, which shows the local time. Not in tables: each would be a stop. */
  readonly isFocusable?: boolean;
};

/** UTC; local time on hover and focus. */
export function Time({ at, isFocusable = false }: Props) {
  if (at === null || at === undefined) return <span class="none">–</span>;
  const local = localText(at);
  return (
    <time
      dateTime={instantOf(at).toISOString()}
      title={local}
      data-local={local}
      tabIndex={isFocusable ? 0 : undefined}
    >
      {utcText(at)}
      {isFocusable && <span class="hidden"> UTC</span>}
    </time>
  );
}

/** How long ago. */
export function Age({ since }: { readonly since: string | null | undefined }) {
  if (since === null || since === undefined) return <span class="none">–</span>;
  return (
    <time dateTime={instantOf(since).toISOString()} title={`${utcText(since)} UTC`}>
      {durationText(now.value - instantOf(since).getTime())}
    </time>
  );
}

/** When it was, and how long ago. */
export function Since({ at }: Pick<Props, "at">) {
  return (
    <>
      <Time at={at} isFocusable /> UTC, <Age since={at} /> ago
    </>
  );
}
