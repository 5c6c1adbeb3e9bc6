import type { Platform } from "../../deploy/demo/platform.ts";
import type { Movement } from "./load.ts";

/** Each movement once on the platform, with its amount, and no other. Returns a line for every difference. */
export async function checkMovements(
  platform: Platform,
  logins: readonly string[],
  executed: readonly Movement[],
): Promise<string[]> {
  const differences: string[] = [];
  for (const login of logins) {
    const own = executed.filter((movement) => movement.login === login);
    const deals = (await platform.deals(login)).filter(({ isTrade }) => !isTrade);
    for (const { comment, minor } of own) {
      const found = deals.filter((deal) => deal.comment.includes(comment));
      if (found.length === 1 && found[0]?.minor === minor) continue;
      differences.push(
        `${login} ${comment} ${minor}: ${found.length} deals, ${found.map((deal) => deal.minor).join(" ")}`,
      );
    }
    const known = deals.filter((deal) => own.some(({ comment }) => deal.comment.includes(comment)));
    if (known.length !== deals.length) {
      differences.push(`${login}: ${deals.length - known.length} deals that no caller asked for`);
    }
    const sum = own.reduce((total, { minor }) => total + minor, 0n);
    const balance = await platform.balance(login);
    if (balance !== sum) differences.push(`${login}: the balance is ${balance}, and the movements are ${sum}`);
  }
  return differences;
}
