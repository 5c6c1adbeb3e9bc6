import type { PageProps } from "../page.ts";
import { GroupView } from "./group.tsx";
import { Groups } from "./groups.tsx";
import { ReviewView } from "./review.tsx";
import { Reviews } from "./reviews.tsx";

export function View({ path: [id, group], query }: PageProps) {
  if (id === "groups" && group !== undefined) return <GroupView key={group} id={group} />;
  if (id !== undefined) return <ReviewView key={id} id={id} />;
  const state = query.get("state") ?? "";
  return state === "" ? <Groups /> : <Reviews state={state} />;
}
