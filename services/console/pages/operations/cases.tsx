import { Badge } from "../../components/badge.tsx";
import { BreakLink, ReviewLink } from "../../components/links.tsx";
import { NotReached } from "../../components/not-reached.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { useRead } from "../../data/use-read.ts";
import { words } from "../../formats/words.ts";

/** More than an operation has legs. What is beyond it is said. */
const LIMIT = 100;

/** Open breaks about the operation, and all its reviews: what was decided is a part of what happened. */
export function Cases({ id }: { readonly id: string }) {
  const cases = useRead(
    async (client, signal) => {
      const query = { operation_id: id, limit: LIMIT } as const;
      const [undecided, decided, breaks] = await Promise.all([
        client.query("listReviews", { query }, { signal }),
        client.query("listReviews", { query: { ...query, state: "decided" } }, { signal }),
        client.query("listBreaks", { query }, { signal }),
      ]);
      const pages = [undecided, decided, breaks];
      return {
        reviews: [...undecided.items, ...decided.items],
        breaks: breaks.items,
        unreachable: pages.flatMap(({ unreachable }): readonly string[] => unreachable),
        hasMore: pages.some(({ has_more: hasMore }) => hasMore),
      };
    },
    { keys: [id], topics: ["reviews", "breaks"] },
  );
  const { reviews = [], breaks = [], unreachable = [], hasMore = false } = cases.data ?? {};
  const isEmpty = cases.data !== undefined && reviews.length + breaks.length === 0;
  return (
    <>
      <h2 class="later">Reviews and breaks</h2>
      <ReadState read={cases} what="reviews" />
      <NotReached services={unreachable} what="reviews and breaks" />
      <ul class="plain">
        {reviews.map((one) => (
          <li key={one.id}>
            <ReviewLink id={one.id} /> {words(one.reason)} <Badge state={one.state} />
          </li>
        ))}
        {breaks.map((one) => (
          <li key={one.id}>
            <BreakLink id={one.id} /> {one.message}
          </li>
        ))}
      </ul>
      {hasMore && <p class="quiet">There are more, which are not shown here.</p>}
      {isEmpty && unreachable.length === 0 && <p class="quiet">There is none.</p>}
    </>
  );
}
