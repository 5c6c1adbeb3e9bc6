import { Facts } from "../../components/facts.tsx";
import { Money } from "../../components/money.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { words } from "../../formats/words.ts";
import type { FoundMaster } from "./find-master.ts";

export function MasterFacts(master: FoundMaster) {
  const { state, since, closing } = master;
  return (
    <Section title="Facts">
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
          ["Strategy", master.strategy_name === "" ? "–" : master.strategy_name],
          ["Description", master.strategy === "" ? "–" : master.strategy],
          ["Investors", master.investors_count.toString()],
          ["Minimum deposit", <Money amount={master.min_deposit} />],
          ["Payment account", <span class="code">{master.payment_account_login}</span>],
          ["Email", master.email ?? "–"],
          ["Your id", master.external_id ?? "–"],
          ["Registered", <Time at={master.created_at} isFocusable />],
          ...Object.entries(master.metadata).map(([name, value]) => [name, value] as const),
        ]}
      />
    </Section>
  );
}
