import type { Page } from "./page.ts";

/** In the order of the navigation. Each page has a folder, whose `view.tsx` exports `View`. */
export const PAGES: readonly Page[] = [
  { name: "overview", title: "Overview", anyOf: [], load: () => import("./overview/view.tsx") },
  {
    name: "masters",
    title: "Masters",
    anyOf: ["masters:read", "subscriptions:read"],
    load: () => import("./masters/view.tsx"),
  },
  { name: "investors", title: "Investors", anyOf: ["investors:read"], load: () => import("./investors/view.tsx") },
  {
    name: "operations",
    title: "Operations",
    anyOf: ["investors:read", "funds:deposit", "funds:withdraw", "subscriptions:write"],
    load: () => import("./operations/view.tsx"),
  },
  { name: "reviews", title: "Reviews", anyOf: ["ops"], load: () => import("./reviews/view.tsx") },
  { name: "breaks", title: "Breaks and checks", anyOf: ["ops"], load: () => import("./breaks/view.tsx") },
  { name: "fee-runs", title: "Fee runs", anyOf: ["fees:read"], load: () => import("./fee-runs/view.tsx") },
  { name: "keys", title: "Keys", anyOf: [], load: () => import("./keys/view.tsx") },
];
