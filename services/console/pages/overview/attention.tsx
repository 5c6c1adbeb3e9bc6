import type { Models } from "../../../client/index.ts";
import { reviewsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { BreakLink, OperationLink } from "../../components/links.tsx";
import { NotReached } from "../../components/not-reached.tsx";
import { ReadState } from "../../components/read-state.tsx";
import type { Column } from "../../components/table/column.ts";
import { accountColumn, ageColumn, amountColumn } from "../../components/table/columns.tsx";
import { Table } from "../../components/table/table.tsx";
import type { Read } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { GroupLink } from "../reviews/groups.tsx";
import { isAboutMaster, isOfMaster } from "../reviews/is-master.ts";
import { happenedIn, whatHappened } from "../reviews/what-happened.ts";
import type { AttentionReads } from "./use-attention.ts";
import { Section } from "../../components/section.tsx";

/** One thing that waits, wherever it is kept. */
type Case = {
  readonly kind: "review" | "break" | "operation";
  readonly id: string;
  readonly about: string;
  readonly login: string | null;
  readonly isMaster: boolean;
  readonly amount: string | null;
  readonly state: string;
  readonly since: string;
  /** Of reviews: many accounts are one case. */
  readonly group?: Models["ReviewGroup"];
};

const COLUMNS: readonly Column<Case>[] = [
  { title: "Kind", text: ({ kind }) => kind },
  { title: "Case", text: ({ id }) => id, cell: (row) => <CaseLink {...row} /> },
  { title: "About", isWide: true, text: ({ about }) => about },
  { title: "State", text: ({ state }) => state, cell: ({ state }) => <Badge state={state} /> },
  accountColumn("Login", (row) => row),
  amountColumn("Amount", ({ amount }) => amount),
  ageColumn(({ since }) => since),
];

/** What an operator has to look at, the oldest first. */
export function Attention({ unknown, reviews, breaks }: AttentionReads) {
  const cases = [
    ...(reviews?.data?.items.map((one): Case => ({
      kind: "review",
      id: one.first_review_id,
      about: whatHappened(happenedIn(one)),
      state: one.proposed > 0 ? "proposed" : "open",
      since: one.opened_at,
      login: one.login,
      isMaster: isAboutMaster(one),
      amount: one.amount,
      group: one,
    })) ?? []),
    ...(breaks?.data?.items.map((one): Case => ({
      kind: "break",
      about: one.message,
      state: "open",
      since: one.opened_at,
      amount: one.at_risk,
      id: one.id,
      login: one.login,
      isMaster: isOfMaster(one),
    })) ?? []),
    ...(unknown?.data?.items.map((one): Case => ({
      kind: "operation",
      about: sentence(one.action),
      state: one.outcome,
      since: one.requested_at,
      amount: one.amount,
      id: one.id,
      login: one.login,
      isMaster: false,
    })) ?? []),
  ].toSorted((left, right) => (left.since < right.since ? -1 : 1));
  const reads = [unknown, reviews, breaks].filter((read) => read !== undefined);
  if (reads.length === 0) return null;
  const silent = [...(reviews?.data?.unreachable ?? []), ...(breaks?.data?.unreachable ?? [])];
  return (
    <Section title="Waits for an operator">
      <ReadState read={worstOf(reads)} what="cases" />
      <NotReached services={silent} what="cases" />
      {reads.every(({ data }) => data !== undefined) && (
        <Table
          label="Cases"
          columns={COLUMNS}
          rows={cases}
          idOf={({ kind, id }) => `${kind}:${id}`}
          empty={
            reviews === undefined
              ? "No outcome is unknown."
              : "Nothing waits: no open review, no break, no unknown outcome."
          }
        />
      )}
      {reviews !== undefined && (
        <p class="note">
          <a href={reviewsHref({ state: "decided" })}>Decided reviews</a>
        </p>
      )}
    </Section>
  );
}

/** One problem stands for all: an incident has the same for each list. */
function worstOf(reads: readonly Read<unknown>[]): Read<unknown> {
  const failed = reads.filter(({ problem }) => problem !== undefined);
  const waiting = reads.find(({ data }) => data === undefined);
  const [first = waiting ?? reads[0]] = failed;
  if (first === undefined) throw new Error("no list is read");
  const retryAll = (): void => {
    for (const { refresh } of failed) refresh();
  };
  return failed.length === 0 ? first : { ...first, refresh: retryAll };
}

function CaseLink({ kind, id, group }: Case) {
  if (group !== undefined) return <GroupLink group={group} />;
  return kind === "break" ? <BreakLink id={id} /> : <OperationLink id={id} />;
}
