import type { ComponentChildren } from "preact";
import { breaksHref, operationsHref, reviewsHref } from "../../app/addresses.ts";
import { Figure } from "../../components/figure.tsx";
import { Money } from "../../components/money.tsx";
import { Age, Time } from "../../components/time.tsx";
import type { Read } from "../../data/use-read.ts";
import { grossOf, subtractDecimals } from "../../formats/decimal.ts";
import { durationText } from "../../formats/time.ts";
import type { AttentionReads, Operations } from "./use-attention.ts";
import type { Proofs } from "./use-proofs.ts";

type Props = { readonly proofs: Proofs | undefined; readonly attention: AttentionReads };

export function Figures({ proofs, attention: { unknown, pending, reviews, breaks } }: Props) {
  return (
    <dl class="figures" aria-label="Figures">
      {proofs !== undefined && <OfMasters {...proofs} />}
      {unknown !== undefined && <OfOperations name="Outcome unknown" outcome="unknown" read={unknown} />}
      {pending !== undefined && <OfOperations name="Pending" outcome="pending" read={pending} />}
      {reviews !== undefined && (
        <Waiting
          name="Open reviews"
          href={reviewsHref()}
          tone="warn"
          read={reviews}
          count={reviews.data?.items.reduce((sum, { open, proposed }) => sum + open + proposed, 0)}
          note={oldest(reviews)}
        />
      )}
      {breaks !== undefined && (
        <Waiting
          name="Open breaks"
          href={breaksHref()}
          tone="bad"
          read={breaks}
          note={
            <>
              <Money amount={grossOf(breaks.data?.items.map(({ at_risk: amount }) => amount) ?? [])} /> at risk,{" "}
              {oldest(breaks)}
            </>
          }
        />
      )}
    </dl>
  );
}

function OfMasters({ rows, masters }: Proofs) {
  const proofs = rows.flatMap(({ proof }) => (proof === undefined ? [] : [proof]));
  const isComplete = masters.data !== undefined && proofs.length === rows.length;
  const converged = proofs.filter((proof) => proof.converged).length;
  const inFlight = grossOf(
    proofs.flatMap(({ master, total }) => [master.in_flight, subtractDecimals(total.in_flight, master.in_flight)]),
  );
  const lagMs = proofs.reduce((most, { lag_ms: lag }) => (lag > most ? lag : most), 0n);
  const [closed] = proofs.flatMap(({ fees_closed_through: through }) => (through === null ? [] : [through])).toSorted();
  const read = `${masters.data?.has_more === true ? "the first " : ""}${rows.length}`;
  return (
    <>
      <Figure
        name="Converged Masters"
        href="#masters"
        value={isComplete ? `${converged} of ${read}` : "…"}
        note={noteOf(rows.length, isComplete ? converged : undefined)}
        tone={!isComplete ? "quiet" : converged === rows.length ? "good" : "warn"}
      />
      <Figure
        name="In flight"
        href="#masters"
        value={isComplete ? <Money amount={inFlight} /> : "…"}
        note="decided, not on the account yet"
      />
      <Figure
        name="Mirror lag"
        href="#masters"
        value={isComplete ? durationText(Number(lagMs)) : "…"}
        note="from the last booked deal to the last deal"
        tone={lagMs > 60_000n ? "warn" : "quiet"}
      />
      <Figure
        name="Fee weeks closed through"
        href="#masters"
        value={<Time at={closed?.slice(0, 16)} />}
        note="of the Master that is furthest behind"
      />
    </>
  );
}

function noteOf(count: number, converged: number | undefined): string {
  if (converged === undefined) return "not all are read";
  return converged < count ? `${count - converged} not converged` : "books equal platform";
}

type OfOperationsProps = { readonly name: string; readonly outcome: string; readonly read: Read<Operations> };

function OfOperations({ name, outcome, read: { data } }: OfOperationsProps) {
  const count = data?.items.length ?? 0;
  return (
    <Figure
      name={name}
      href={operationsHref({ outcome })}
      value={data === undefined ? "…" : countText(data)}
      note={
        data !== undefined && (
          <>
            <Money amount={grossOf(data.items.map(({ amount }) => amount))} />
            {outcome === "unknown" ? " at risk" : " requested"}
          </>
        )
      }
      tone={outcome === "unknown" && count > 0 ? "bad" : "quiet"}
    />
  );
}

type Dated = { readonly opened_at: string };
type WaitingProps = {
  readonly name: string;
  readonly href: string;
  readonly tone: "warn" | "bad";
  readonly read: Read<{ readonly items: readonly Dated[]; readonly has_more: boolean }>;
  /** Where an item stands for several. */
  readonly count?: number | undefined;
  readonly note: ComponentChildren;
};

function Waiting({ name, href, tone, read: { data }, count, note }: WaitingProps) {
  const isNone = data?.items.length === 0;
  return (
    <Figure
      name={name}
      href={href}
      value={data === undefined ? "…" : countText(data, count)}
      note={data === undefined ? "" : isNone ? "none" : note}
      tone={data === undefined || isNone ? "quiet" : tone}
    />
  );
}

function oldest({ data }: Read<{ readonly items: readonly Dated[] }>): ComponentChildren {
  const [first] = data?.items.map(({ opened_at: at }) => at).toSorted() ?? [];
  return first === undefined ? (
    ""
  ) : (
    <>
      oldest <Age since={first} />
    </>
  );
}

function countText(
  { items, has_more: hasMore }: { readonly items: readonly unknown[]; readonly has_more: boolean },
  count = items.length,
): string {
  return `${count}${hasMore ? "+" : ""}`;
}
