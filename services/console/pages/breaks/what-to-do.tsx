import type { Models } from "../../../client/index.ts";
import { reviewsHref } from "../../app/addresses.ts";
import { ReviewLink } from "../../components/links.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { useRead } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { adviceOf } from "./advice.ts";

type Break = Models["Break"];

const LIMIT = 100;

/** What a break asks of people: most have a review, which is where it is decided. */
export function WhatToDo({ found }: { readonly found: Break }) {
  const { login, master_login: master, check } = found;
  const reviews = useRead(
    async (client, signal) => {
      const page = await client.query("listReviews", { query: { limit: LIMIT } }, { signal });
      return page.items.filter((one) => one.login === login || one.login === master);
    },
    { keys: [found.id], topics: ["reviews"] },
  );
  return (
    <section aria-labelledby="to-do-title">
      <h2 id="to-do-title">What to do</h2>
      <p>{adviceOf(check)}</p>
      <ReadState read={reviews} what="its reviews" />
      {reviews.data?.length === 0 && (
        <p class="quiet">
          No open review is about this account. <a href={reviewsHref()}>All reviews</a>
        </p>
      )}
      <ul class="plain">
        {reviews.data?.map(({ id, reason, state }) => (
          <li key={id}>
            Review <ReviewLink id={id} />: {sentence(reason)}, {state}
          </li>
        ))}
      </ul>
    </section>
  );
}
