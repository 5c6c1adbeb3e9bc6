import type { Models } from "../../../client/index.ts";
import { checkEntry } from "../../../catalogue/checks.ts";
import { reviewsHref } from "../../app/addresses.ts";
import { ReviewLink } from "../../components/links.tsx";
import { NotReached } from "../../components/not-reached.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { useRead } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { Section } from "../../components/section.tsx";

type Break = Models["Break"];

/** What is beyond it is said. */
const LIMIT = 100;

/** What a break asks of people: most have a review, which is where it is decided. */
export function WhatToDo({ found }: { readonly found: Break }) {
  const { login, master_login: master, check } = found;
  const reviews = useRead(
    async (client, signal) => {
      const logins = [...new Set([login, master])].filter((one) => one !== null);
      const pages = await Promise.all(
        logins.map((one) => client.query("listReviews", { query: { login: one, limit: LIMIT } }, { signal })),
      );
      return {
        items: pages.flatMap(({ items }) => items),
        unreachable: pages.flatMap(({ unreachable }): readonly string[] => unreachable),
        hasMore: pages.some(({ has_more: hasMore }) => hasMore),
      };
    },
    { keys: [login, master], topics: ["reviews"] },
  );
  const { items = [], unreachable = [], hasMore = false } = reviews.data ?? {};
  const isEmpty = reviews.data !== undefined && items.length === 0 && unreachable.length === 0;
  return (
    <Section title="What to do">
      <p>{checkEntry(check)?.advice ?? "Find the cause first. If you cannot name it, report the break."}</p>
      <ReadState read={reviews} what="its reviews" />
      <NotReached services={unreachable} what="reviews" />
      <ul class="plain">
        {items.map(({ id, reason, state }) => (
          <li key={id}>
            Review <ReviewLink id={id} />: {sentence(reason)}, {state}
          </li>
        ))}
      </ul>
      {hasMore && <p class="quiet">There are more, which are not shown here.</p>}
      {isEmpty && (
        <p class="quiet">
          No open review is about this account. <a href={reviewsHref()}>All reviews</a>
        </p>
      )}
    </Section>
  );
}
