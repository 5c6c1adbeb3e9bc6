import { session } from "../session/session.ts";
import { feedState } from "./feed.ts";

const TITLES = {
  live: "What is shown follows the event feed",
  behind: "Events may have happened that are not shown yet",
  off: "The event feed is not followed: what is shown is as old as when it was read",
};

export function LiveMark() {
  const state = session.value?.feedBegin === undefined ? "off" : feedState.value;
  return (
    <span class={`live ${state}`} title={TITLES[state]} role="status">
      {state}
    </span>
  );
}
