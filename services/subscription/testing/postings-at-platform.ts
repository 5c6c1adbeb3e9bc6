import { stateText } from "../messages/transfer.ts";
import type { World } from "./world.ts";

/** Number, requested cents and state of the postings that platform has, in the order of their requests. */
export function postingsAtPlatform({ platform }: World): string[] {
  const postings = [...platform.byKey.values()].filter(({ request }) => isPosting(request));
  return postings.map(({ request: { key, legs }, result }) => {
    return `${key.split(":")[2]}: ${legs[0]?.amount?.minorUnits} ${stateText(result)}`;
  });
}

export function isPosting({ key }: { readonly key: string }): boolean {
  return key.startsWith("posting:");
}
