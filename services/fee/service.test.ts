import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { feeWatchers } from "./service.ts";
import { insertMaster } from "./store/masters.ts";
import { MASTER, PAYMENT_ACCOUNT } from "./testing/fee.ts";
import { aWorld } from "./testing/world.ts";

test("payment accounts are scanned at least as often as PAMM_CHECK_INTERVAL", async () => {
  const { deps } = await aWorld();
  await insertMaster(deps.pool, MASTER, PAYMENT_ACCOUNT);
  let scans = 0;
  const readLogBalances: typeof deps.platform.readLogBalances = (request, context) => {
    scans += 1;
    return deps.platform.readLogBalances(request, context);
  };
  await using stack = new AsyncDisposableStack();
  for (const job of feeWatchers({ ...deps, platform: { ...deps.platform, readLogBalances } }, 10)) stack.use(job);

  // Without the limit the second scan follows after five seconds.
  await waitFor(() => expect(scans).toBeGreaterThan(1));
});
