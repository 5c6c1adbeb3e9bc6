import { reasonOf } from "#kernel/jobs/retry.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import { abandonTry, depart } from "../processes/departure/depart.ts";
import { namesOf, release } from "../processes/departure/end.ts";
import { type Departure, departureQueue } from "../store/departures.ts";
import { jobContext, SAGAS_PER_RUN } from "../processes/deadlines.ts";

/** Recovery job: ends tries whose process is gone, completes what is decided, and releases account locks. */
export async function settleDepartures(deps: Deps): Promise<boolean> {
  const claimed = await departureQueue.claim(deps.pool, SAGAS_PER_RUN);
  await Promise.all(claimed.map((departure) => settle(deps, departure)));
  return claimed.length === SAGAS_PER_RUN;
}

/** A failure on one does not stop the others. */
async function settle(deps: Deps, departure: Departure): Promise<void> {
  const { operationId, tries } = departure;
  try {
    await continueFrom(deps, departure, { ...jobContext(), commandId: operationId });
  } catch (error) {
    deps.log.info("departure not settled, retry scheduled", { ...namesOf(departure), attempt: tries, error });
    await departureQueue.retryLater(deps.pool, [{ id: operationId, tries, reason: reasonOf(error) }]);
  }
}

async function continueFrom(deps: Deps, departure: Departure, context: CallContext): Promise<void> {
  switch (departure.state) {
    case "WANTED":
      await abandonTry(deps, departure, context);
      break;
    case "DECIDED":
      await depart(deps, departure, context);
      break;
    case "WAITING":
    case "REFUSED":
    case "ENDED":
      await release(deps, departure, context);
  }
}
