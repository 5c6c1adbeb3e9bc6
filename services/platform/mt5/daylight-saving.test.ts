import { expect, test } from "vitest";
import type { Mt5Client } from "./client.ts";
import { type PlatformServer, startPlatformServer } from "./testing/platform-server.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Made = { readonly comment: string; readonly at: string };

/** A trade server and this service at the same hand-set time. */
async function worldAt(zone: string) {
  const time = { ms: 0 };
  const platform = await startPlatformServer({ timeZone: zone, nowMs: () => time.ms });
  const client = () => platform.client({ now: () => new Date(time.ms), timeZone: zone });
  return { time, platform, client };
}

async function deposit({ control }: PlatformServer, login: string, comment: string): Promise<void> {
  await control("POST", "balance", { login: Number(login), amount: "1.00", comment });
}

async function read(mt5: Mt5Client, login: string, fromMs: number, toMs: number): Promise<readonly Made[]> {
  const deals = await mt5.readDeals(login, { from: new Date(fromMs), to: new Date(toMs) });
  return deals.map(({ comment, at }) => ({ comment, at: at.toISOString() }));
}

const CASES = [
  ["Europe/Athens", Date.UTC(2026, 2, 29, 1)],
  ["Europe/Athens", Date.UTC(2026, 9, 25, 1)],
  ["America/New_York+07:00", Date.UTC(2026, 2, 8, 7)],
  ["America/New_York+07:00", Date.UTC(2026, 10, 1, 6)],
] as const;

const EACH = CASES.map(([zone, changeMs]) => ({
  zone,
  changeMs,
  name: new Date(changeMs).toISOString().slice(0, 10),
}));

test.each(EACH)(
  "deals around the change of $zone on $name are read when they are made, each at its instant",
  async (each) => {
    const { time, platform, client } = await worldAt(each.zone);
    await using server = platform;
    time.ms = each.changeMs - 2 * HOUR;
    const login = await platform.account();
    using mt5 = client();
    const found = new Map<string, string>();
    const made: Made[] = [];
    let readTo = time.ms;
    // The reader looks again at its last ten seconds.
    for (let minute = -90; minute <= 90; minute += 15) {
      for (const seconds of [-1, 0, 1]) {
        time.ms = each.changeMs + minute * MINUTE + seconds * 1_000;
        const comment = `${minute} ${seconds}`;
        await deposit(server, login, comment);
        made.push({ comment, at: new Date(time.ms).toISOString() });
        time.ms += 600;
        for (const deal of await read(mt5, login, readTo - 10_000, time.ms + 24 * HOUR)) {
          if (!found.has(deal.comment)) found.set(deal.comment, deal.at);
        }
        readTo = time.ms;
      }
    }
    expect(Array.from(found, ([comment, at]) => ({ comment, at }))).toEqual(made);
  },
);

test("an account that is read in the repeated hour is cut at that instant", async () => {
  const changeMs = Date.UTC(2026, 9, 25, 1);
  const { time, platform, client } = await worldAt("Europe/Athens");
  await using _server = platform;
  for (const minutes of [-30, 30]) {
    time.ms = changeMs + minutes * MINUTE;
    using mt5 = client();
    const clock = await mt5.serverClock();
    expect(clock.toUtcMs(await mt5.readServerMs())).toBe(time.ms);
  }
});
