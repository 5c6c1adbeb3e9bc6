import { Facts } from "../../components/facts.tsx";
import { Money } from "../../components/money.tsx";
import { Time } from "../../components/time.tsx";
import { words } from "../../formats/words.ts";
import type { FoundMaster } from "./find-master.ts";

export function MasterFacts({ profile, status: { state, since, closing } }: FoundMaster) {
  return (
    <section aria-labelledby="facts-title">
      <h2 id="facts-title">Facts</h2>
      <Facts
        facts={[
          ["State", words(state)],
          ["Since", <Time at={since} isFocusable />],
          closing !== null && ["Investors left", closing.investors_left.toString()],
          closing !== null && ["Exits in progress", closing.exits_in_progress.toString()],
          closing !== null && [
            "Closing waits for",
            closing.blocked_by === null ? "nothing but time" : words(closing.blocked_by),
          ],
          ["Strategy", profile.strategy_name === "" ? "–" : profile.strategy_name],
          ["Description", profile.strategy === "" ? "–" : profile.strategy],
          ["Investors", profile.investors_count.toString()],
          ["Minimum deposit", <Money amount={profile.min_deposit} />],
          ["Payment account", <span class="code">{profile.payment_account_login}</span>],
          ["Email", profile.email ?? "–"],
          ["Your id", profile.external_id ?? "–"],
          ["Registered", <Time at={profile.created_at} isFocusable />],
          ...Object.entries(profile.metadata).map(([name, value]) => [name, value] as const),
        ]}
      />
    </section>
  );
}
