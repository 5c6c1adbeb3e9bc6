import { BreakLink, ReviewLink } from "../../components/links.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { useRead } from "../../data/use-read.ts";
import { words } from "../../formats/words.ts";

const LIMIT = 100;

/** Open reviews and breaks about the operation. */
export function Cases({ id }: { readonly id: string }) {
  const cases = useRead(
    async (client, signal) => {
      const [reviews, breaks] = await Promise.all([
        client.query("listReviews", { query: { limit: LIMIT } }, { signal }),
        client.query("listBreaks", { query: { limit: LIMIT } }, { signal }),
      ]);
      return {
        reviews: reviews.items.filter((one) => one.operation_id === id),
        breaks: breaks.items.filter((one) => one.operation_ids.includes(id)),
      };
    },
    { keys: [id], topics: ["reviews", "breaks"] },
  );
  const { reviews = [], breaks = [] } = cases.data ?? {};
  return (
    <>
      <h2 class="later">Reviews and breaks</h2>
      <ReadState read={cases} what="reviews" />
      <ul class="plain">
        {reviews.map((one) => (
          <li key={one.id}>
            <ReviewLink id={one.id} /> {words(one.reason)}
          </li>
        ))}
        {breaks.map((one) => (
          <li key={one.id}>
            <BreakLink id={one.id} /> {one.message}
          </li>
        ))}
      </ul>
      {cases.data !== undefined && reviews.length + breaks.length === 0 && <p class="quiet">None is open.</p>}
    </>
  );
}
