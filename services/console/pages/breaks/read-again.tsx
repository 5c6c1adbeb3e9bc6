import { Facts } from "../../components/facts.tsx";
import { ProblemView } from "../../components/problem-view.tsx";
import { Time } from "../../components/time.tsx";
import { useCommand } from "../../data/use-command.ts";
import { useRead } from "../../data/use-read.ts";
import { isProblem } from "../../../client/index.ts";
import { words } from "../../formats/words.ts";

/** Reads the history of the account on the platform anew, which explains most differences. */
export function ReadAgain({ login }: { readonly login: string }) {
  const reading = useRead(
    (client, signal) =>
      client.query("getHistoryReading", { path: { login } }, { signal }).catch((error: unknown) => {
        if (isProblem(error, "history_reading_not_found")) return null;
        throw error;
      }),
    { keys: [login], topics: [`login:${login}`] },
  );
  const command = useCommand<"startHistoryReading">(reading.refresh);
  const { data } = reading;
  return (
    <section aria-labelledby="reading-title">
      <h2 id="reading-title">History of account {login}</h2>
      {data !== undefined && data !== null && (
        <Facts
          facts={[
            ["Reading", words(data.state)],
            ["Requested by", data.requested_by],
            ["From", <Time at={data.from} />],
            ["Deals that no log had", data.filed_deals.toString()],
            data.reason !== null && ["Last failure", data.reason],
          ]}
        />
      )}
      <p class="later">
        <button
          type="button"
          disabled={command.isSending}
          onClick={() =>
            command.send(login, (client, options) =>
              client.command("startHistoryReading", { path: { login }, body: {} }, options),
            )
          }
        >
          Read the history again
        </button>{" "}
        <button type="button" class="plain" onClick={reading.refresh}>
          Refresh
        </button>
      </p>
      {command.result?.outcome === "not_executed" && <ProblemView problem={command.result.problem} />}
      {command.result?.outcome === "unknown" && <ProblemView problem={command.result.error} />}
    </section>
  );
}
