import { Gauge } from "prom-client";

type Ask = () => Promise<boolean>;

let shown: Ask | undefined;

/** Asked when Prometheus asks. */
const reachable = new Gauge({
  name: "pamm_postgres_reachable",
  help: "1 when Postgres has answered this process within 1.5 s, tried at each scrape.",
  collect: async () => {
    if (shown !== undefined) reachable.set((await shown()) ? 1 : 0);
  },
});

/** Shows whether the database of the process answers; `ask` never rejects and has a deadline. */
export function showReachable(ask: Ask): void {
  shown = ask;
}
