import { reviewsHref } from "../../app/addresses.ts";

export const FILTERS = [
  { state: "", title: "Undecided" },
  { state: "open", title: "Open, one by one" },
  { state: "proposed", title: "Proposed, one by one" },
  { state: "decided", title: "Decided" },
] as const;
export type State = (typeof FILTERS)[number]["state"];

export function Filters({ state }: { readonly state: State }) {
  return (
    <nav class="filters" aria-label="State of the reviews">
      {FILTERS.map((one) => (
        <a
          key={one.state}
          href={reviewsHref({ state: one.state })}
          aria-current={one.state === state ? "page" : undefined}
        >
          {one.title}
        </a>
      ))}
    </nav>
  );
}
