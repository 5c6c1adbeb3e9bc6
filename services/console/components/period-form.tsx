import { goTo } from "../app/router.ts";
import { now } from "../data/ticker.ts";
import { submitting } from "../formats/form.ts";
import { lastDays, type Period } from "../formats/period.ts";
import { useFields } from "./use-fields.ts";

type Props = {
  readonly period: Period;
  readonly hrefOf: (period: Period) => string;
  /** The first day there is something of. */
  readonly begin?: string | undefined;
};

const LENGTHS = [
  { title: "30 days", days: 30 },
  { title: "90 days", days: 90 },
  { title: "1 year", days: 365 },
];

/** Chooses days in UTC. The address has them, so that what is shown can be sent to a colleague. */
export function PeriodForm({ period, hrefOf, begin }: Props) {
  const form = useFields(period);
  const choices = LENGTHS.map(({ title, days }) => ({ title, of: lastDays(days, now.value) }));
  const all = begin === undefined ? [] : [{ title: "All", of: { from: begin, to: lastDays(1, now.value).to } }];
  const submit = submitting((text) => goTo(hrefOf({ from: text("from"), to: text("to") })));
  return (
    <form class="period" ref={form} onSubmit={submit} aria-label="Period">
      <label>
        From (UTC)
        <input name="from" type="date" required />
      </label>
      <label>
        Before (UTC)
        <input name="to" type="date" required />
      </label>
      <button type="submit">Show</button>
      <div class="filters">
        {[...choices, ...all].map(({ title, of }) => (
          <a key={title} href={hrefOf(of)} aria-current={isSame(of, period) ? "true" : undefined}>
            {title}
          </a>
        ))}
      </div>
    </form>
  );
}

function isSame(left: Period, right: Period): boolean {
  return left.from === right.from && left.to === right.to;
}
