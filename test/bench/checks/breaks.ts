import type pg from "pg";
import { eventually } from "../../journey/support/client.ts";
import { Violated } from "../bench.ts";

const SERVICES = ["platform", "subscription", "funding", "fee"];
/** A break that is over is closed by the next run of its check, of a minute at most. */
const CLOSED_WITHIN_MS = 150_000;

/** Throws Violated when the reconciliation of a service has an open break that does not close. Reads the tables themselves. */
export async function requireNoBreaks(database: pg.Client): Promise<void> {
  await eventually(async () => {
    const { rows } = await database.query<{ text: string }>(
      SERVICES.map(
        (service) => `select check_name || ': ' || message as text from ${service}.reconciliation_break
                      where opened_at is not null and closed_at is null`,
      ).join(" union all "),
    );
    if (rows.length > 0) throw new Violated(rows.map(({ text }) => text));
  }, CLOSED_WITHIN_MS);
}
