import { itemsOf, objectOf, textOf } from "../demo/exact-json.ts";
import { centsOf, type Platform } from "../demo/platform.ts";
import { poll } from "../demo/wait.ts";
import { type Access, read } from "./clients.ts";
import { openReviews } from "./operators.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { type Caller, type Command, executionsOf } from "./traffic.ts";

const CONVERGED = { what: "books that tie, without breaks and reviews", withinMs: 150_000, everyMs: 500 };

/** Each open break: its check, and the account. */
export async function openBreaks(access: Access): Promise<readonly string[]> {
  const { body } = await read(access, "/api/v1/ops/breaks");
  return itemsOf(objectOf({ body }, "body")["items"] ?? []).map((item) => textOf(item, "check"));
}

/** Waits until no check has a break, no review is open, and the proof of the Master converges. */
export async function untilBooksTie(access: Access, master: string): Promise<void> {
  let last = "";
  await poll(
    CONVERGED,
    async () => {
      const [breaks, reviews] = [await openBreaks(access), await openReviews(access)];
      const proof = await read(access, `/api/v1/info/master/${master}/proof`);
      const hasConverged = objectOf({ body: proof.body }, "body")["converged"] === true;
      last = `breaks ${breaks.join(", ")}; reviews ${reviews.map((review) => textOf(review, "reason")).join(", ")}; ${proof.text}`;
      return breaks.length === 0 && reviews.length === 0 && hasConverged ? true : undefined;
    },
    () => last,
  );
}

/** Compares what callers know with the deals of the trading platform, and its balances with those that the service shows. */
export async function proveMovements(
  rehearsal: Rehearsal,
  { access, platform, callers }: { access: Access; platform: Platform; callers: readonly Caller[] },
): Promise<{ readonly commands: number; readonly executed: number }> {
  const executions = await executionsOf(platform, callers);
  const commands = callers.flatMap((caller) => caller.commands);
  const times = ({ comment }: Command): number => executions.get(comment) ?? 0;
  const twice = commands.filter((command) => times(command) > 1);
  const lost = commands.filter((command) => command.isDone && times(command) === 0);
  const executed = commands.filter((command) => times(command) === 1).length;
  rehearsal.check("no command moved money twice", twice.length === 0, `${twice.length} of ${commands.length}`);
  rehearsal.check("each command that was answered 200 moved its money", lost.length === 0, `${lost.length} lost`);
  const wrong: string[] = [];
  for (const { login } of callers) {
    const deals = (await platform.deals(login)).reduce((sum, { minor }) => sum + minor, 0n);
    const { body } = await read(access, `/api/v1/info/balance/${login}`);
    const [onPlatform, shown] = [await platform.balance(login), centsOf(objectOf({ body }, "body"), "balance")];
    if (deals !== onPlatform || shown !== onPlatform) wrong.push(`${login}: ${deals}, ${onPlatform}, ${shown}`);
  }
  rehearsal.check(
    "each balance is the sum of its deals, and what the service shows",
    wrong.length === 0,
    wrong.join("; "),
  );
  return { commands: commands.length, executed };
}

export function reasonAndLogin(review: Parameters<typeof textOf>[0]): string {
  return `${textOf(review, "reason")} about ${textOf(review, "login")}`;
}
