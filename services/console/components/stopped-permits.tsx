import type { Permits } from "../data/use-permits.ts";
import { Facts } from "./facts.tsx";
import { Since, Time } from "./time.tsx";

/** While the database is behind the trading platform: what was imported, and what `resume` waits for. */
export function StoppedPermits({ stopped_at: at, resumable_from: from, blocking, imports }: Permits) {
  return (
    <>
      <Facts
        isStrip
        facts={[
          ["Held since", <Since at={at} />],
          ["Resume not before", <Time at={from} isFocusable />],
          imports !== null && ["Lost deposits and withdrawals", imports.movements.toString()],
          imports !== null && ["Imports open", imports.open_movements.toString()],
          imports !== null && ["Imported fees not recorded", imports.unclaimed_fees.toString()],
          imports !== null && ["Accounts still being read", imports.accounts_to_read.toString()],
        ]}
      />
      {blocking.length === 0 ? (
        <p>Nothing keeps two people from resuming.</p>
      ) : (
        <>
          <p>Resume waits for:</p>
          <ul class="lines">
            {blocking.map(({ detail }) => (
              <li key={detail}>{detail}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
