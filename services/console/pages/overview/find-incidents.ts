import type { Models } from "../../../client/index.ts";
import type { Readiness } from "./use-readiness.ts";

export type IncidentState = {
  readonly readiness: Readiness | undefined;
  readonly reviews: readonly Pick<Models["ReviewGroup"], "first_review_id" | "reason">[];
  readonly checks: readonly Pick<Models["Check"], "stale">[];
  readonly permits: Models["Permits"] | undefined;
};

type Incident = { readonly name: string; readonly title: string; readonly text: string; readonly review?: string };

/** Incidents of the whole system. Those of one account are cases that wait for an operator. */
export function incidentsOf({ readiness, reviews, checks, permits }: IncidentState): readonly Incident[] {
  const incidents: Incident[] = [];
  const behind = reviews.find(({ reason }) => reason === "database_behind");
  if (behind !== undefined || permits?.state === "stopped") {
    incidents.push({
      name: "behind",
      title: "Money commands are held: the database is behind the platform",
      text: "It was restored to an older time, or lost what was sent. Reads work; money commands are refused with safety_stop, and nothing is executed. Movements that it lost are imported from the platform by themselves. Register unknown accounts again, look at the breaks, then two people resume in the review.",
      ...(behind === undefined ? {} : { review: behind.first_review_id }),
    });
  }
  if (permits?.state === "reading") {
    incidents.push({
      name: "reading",
      title: "Money commands are held: the history is being read",
      text: "The database was restarted. Nothing has to be decided: the history of the day before is read, within seconds, or a quiet period after a failover. Money commands are refused with platform_unavailable until then.",
    });
  }
  // The edge reaches the other parts through the broker.
  const isBrokerLost = readiness?.broker.reachable === false;
  if (readiness?.platform.reachable === false && !isBrokerLost) {
    incidents.push({
      name: "platform",
      title: "The trading platform does not answer",
      text: "Call its operator; nothing has to be decided here. Requests are refused, or their outcome is unknown for now. When the platform is back, each unknown outcome is found by itself, within five minutes. Do not pay again, and move no money by hand.",
    });
  }
  if (isBrokerLost) {
    incidents.push({
      name: "broker",
      title: "The broker does not answer",
      text: "Requests are refused until it is back. No money and no event is lost: each is in the database of its owner. When the broker has lost its files, its streams have to be set up again, which is a command on the server.",
    });
  }
  const silent = Object.entries(readiness?.services ?? {}).flatMap(([name, { reachable }]) =>
    reachable ? [] : [name],
  );
  if (silent.length > 0 && !isBrokerLost) {
    incidents.push({
      name: "services",
      title: `Not reached: ${silent.join(", ")}`,
      text: "What this part has recorded continues when it runs again. Its cases and figures are missing here until then.",
    });
  }
  const stale = checks.filter((check) => check.stale).length;
  if (stale > 0) {
    incidents.push({
      name: "checks",
      title: stale === 1 ? "A check is out of date" : `${stale} checks are out of date`,
      text: "A difference would not be seen, so treat it like a break: find out what does not answer.",
    });
  }
  return incidents;
}
